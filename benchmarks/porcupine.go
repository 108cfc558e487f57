// Decides histories of a register with Porcupine: one line of output for each file, its verdict and its nanoseconds of processor time.
package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
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
		events := history(path)
		begun := processor()
		found := porcupine.CheckEvents(register, events)
		fmt.Println(found, processor()-begun)
	}
}
