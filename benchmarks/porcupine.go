// Decides histories with Porcupine: one line of output for each file, its verdict and its nanoseconds of processor time.
// A file .jsonl is of a map of texts, and each other one of a register.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/anishathalye/porcupine"
)

type call struct {
	f        string
	old, new int
}

type outcome struct {
	phase string
	value int
}

const empty = -1

var line = regexp.MustCompile(`(\d+)\s+:(invoke|ok|fail|info)\s+:(read|write|cas)\s+(?:nil|\[?(\d+)(?:\s+(\d+)\])?|:\S+)\s*$`)

var register = porcupine.Model{
	Init: func() interface{} { return empty },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		value, given, told := state.(int), input.(call), output.(outcome)
		switch {
		case given.f == "read":
			return told.phase != "ok" || told.value == value, value
		case given.f == "write":
			return true, given.new
		case told.phase == "ok":
			return value == given.old, given.new
		case told.phase == "fail":
			return value != given.old, value
		case value == given.old:
			return true, given.new
		default:
			return true, value
		}
	},
}

type piece struct {
	Process int
	Type, F string
	Key     string
	Value   json.RawMessage
}

type text struct {
	f, key, said string
}

var texts = porcupine.Model{
	PartitionEvent: func(history []porcupine.Event) [][]porcupine.Event {
		parts := map[string][]porcupine.Event{}
		keys := map[int]string{}
		for _, each := range history {
			if each.Kind == porcupine.CallEvent {
				keys[each.Id] = each.Value.(text).key
			}
			parts[keys[each.Id]] = append(parts[keys[each.Id]], each)
		}
		found := [][]porcupine.Event{}
		for _, each := range parts {
			found = append(found, each)
		}
		return found
	},
	Init: func() interface{} { return "" },
	Hash: func(state interface{}) uint64 {
		found := fnv.New64a()
		found.Write([]byte(state.(string)))
		return found.Sum64()
	},
	Step: func(state, input, output interface{}) (bool, interface{}) {
		given := input.(text)
		switch given.f {
		case "get":
			return output.(string) == state.(string), state
		case "put":
			return true, given.said
		default:
			return true, state.(string) + given.said
		}
	},
}

func textOf(value json.RawMessage) string {
	var pieces []string
	var one string
	if json.Unmarshal(value, &pieces) == nil {
		return strings.Join(pieces, "")
	}
	_ = json.Unmarshal(value, &one)
	return one
}

func textHistory(path string) []porcupine.Event {
	content, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	var events []porcupine.Event
	running := map[int]int{}
	next := 0
	for _, each := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		var one piece
		if err := json.Unmarshal([]byte(each), &one); err != nil {
			panic(err)
		}
		if one.Type == "invoke" {
			given := text{one.F, one.Key, textOf(one.Value)}
			events = append(events, porcupine.Event{ClientId: one.Process, Kind: porcupine.CallEvent, Value: given, Id: next})
			running[one.Process] = next
			next++
		} else {
			events = append(events, porcupine.Event{ClientId: one.Process, Kind: porcupine.ReturnEvent, Value: textOf(one.Value), Id: running[one.Process]})
		}
	}
	return events
}

func number(text string) int {
	if text == "" {
		return empty
	}
	value, _ := strconv.Atoi(text)
	return value
}

func history(path string) []porcupine.Event {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var events []porcupine.Event
	running := map[int]int{}
	next := 0
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		found := line.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		process := number(found[1])
		switch found[2] {
		case "invoke":
			given := call{found[3], number(found[4]), number(found[5])}
			if given.f == "write" {
				given.new = given.old
			}
			events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.CallEvent, Value: given, Id: next})
			running[process] = next
			next++
		case "ok", "fail":
			told := outcome{found[2], number(found[4])}
			events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.ReturnEvent, Value: told, Id: running[process]})
			delete(running, process)
		}
	}
	for process, id := range running {
		events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.ReturnEvent, Value: outcome{"info", empty}, Id: id})
	}
	return events
}

func processor() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

func main() {
	for _, path := range os.Args[1:] {
		model, read := register, history
		if strings.HasSuffix(path, ".jsonl") {
			model, read = texts, textHistory
		}
		events := read(path)
		begun := processor()
		found := porcupine.CheckEvents(model, events)
		fmt.Println(found, processor()-begun)
	}
}
