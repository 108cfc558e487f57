"""From how many events on compiled replay is worth it."""

WORTH_IT = 4_096
"""With fewer events than this, compiling the rules costs more than it saves: some tenths of a second where they are not
cached.
"""
