"""The machine code of the pool (pool.py): what a caller does, and a helper's life, in LLVM's own language.

All that threads share is one block of memory and the slots in it; nobody holds a lock.
"""

from __future__ import annotations

import ctypes

from dala.backends.cpu.llvm.jit import Module
from dala.backends.cpu.run import parking
from dala.once import once

SLOTS = 32  # runs at the same time that get help
WOKEN = 4  # helpers that are woken by each who finds or makes work
SPIN_NS = (
    30_000  # that a helper without work looks on before it sleeps, as the next pass may be near
)
STOLEN_NS = (
    15_000  # between two looks: somebody else needed this core, so spinning takes it from them
)
SLEEPY = 32  # times that a helper then sleeps at once

# Where things are in the shared memory; what different threads write often has a cache line of its own.
_WAKE, _PARKED, ACTIVE, LIMIT, _STOP, SERVING, _SLOTS_AT = 0, 64, 128, 192, 196, 256, 512
_BYTES = 4096
# Of a slot: its state, then the function, its block, and the bytes of scratch memory that it needs. The
# state is 15 bits of helpers that work, one that says the caller sleeps, 16 bits of tickets, one that says
# the slot is taken, and a number that is different for each run: who takes a ticket by compare-and-swap
# can only take one of the run that it looked at.
_SLOT_BYTES = 64
PARKING = _SLOTS_AT + SLOTS * _SLOT_BYTES
assert PARKING + parking.BYTES <= _BYTES
_ASLEEP, _TICKET, _TAKEN, _RUN = 1 << 15, 1 << 16, 1 << 32, 1 << 33

_TEXT = """
; A helper's life.
define void @serve(ptr %pool) {{
entry:
  %own = getelementptr i8, ptr %pool, i64 {PARKING}
  %wake = getelementptr i8, ptr %pool, i64 {WAKE}
  %parked = getelementptr i8, ptr %pool, i64 {PARKED}
  %active = getelementptr i8, ptr %pool, i64 {ACTIVE}
  %limit = getelementptr i8, ptr %pool, i64 {LIMIT}
  %stop = getelementptr i8, ptr %pool, i64 {STOP}
  %serving = getelementptr i8, ptr %pool, i64 {SERVING}
  %slots = getelementptr i8, ptr %pool, i64 {SLOTS_AT}
  %born = atomicrmw add ptr %serving, i32 1 seq_cst
  br label %look

look:                                     ; anything that is made after this changes %seen
  %room = phi ptr [ null, %entry ], [ %room, %parking ], [ %room, %news ], [ %room.now, %look_again ]
  %size = phi i64 [ 0, %entry ], [ %size, %parking ], [ %size, %news ], [ %size.now, %look_again ]
  %sleepy = phi i32 [ 0, %entry ], [ %sleepy.now, %parking ], [ %sleepy, %news ], [ %sleepy, %look_again ]
  %seen = load atomic i32, ptr %wake seq_cst, align 4
  %stopping = load atomic i32, ptr %stop acquire, align 4
  %stopped = icmp ne i32 %stopping, 0
  br i1 %stopped, label %leave, label %scan

scan:
  %n = phi i64 [ 0, %look ], [ %n.next, %none_here ]
  %offset = mul i64 %n, {SLOT_BYTES}
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %state = load atomic i64, ptr %slot acquire, align 8
  br label %offered
offered:
  %state.now = phi i64 [ %state, %scan ], [ %state.other, %lost ]
  %tickets = and i64 %state.now, {TICKETS}
  %some = icmp ne i64 %tickets, 0
  br i1 %some, label %admit, label %none_here
none_here:
  %n.next = add i64 %n, 1
  %all = icmp eq i64 %n.next, {SLOTS}
  br i1 %all, label %idle, label %scan

admit:                                    ; no more threads at work than there are cores
  %working = atomicrmw add ptr %active, i32 1 seq_cst
  %allowed = load atomic i32, ptr %limit monotonic, align 4
  %full = icmp sge i32 %working, %allowed
  br i1 %full, label %turned_away, label %take
turned_away:
  %back = atomicrmw sub ptr %active, i32 1 seq_cst
  br label %idle
take:                                     ; one ticket less, one worker more
  %with_me = sub i64 %state.now, {TICKET_LESS_ONE}
  %swap = cmpxchg ptr %slot, i64 %state.now, i64 %with_me acq_rel acquire
  %taken = extractvalue {{ i64, i1 }} %swap, 1
  br i1 %taken, label %join, label %lost
lost:
  %state.other = extractvalue {{ i64, i1 }} %swap, 0
  %undo = atomicrmw sub ptr %active, i32 1 seq_cst
  br label %offered

join:
  %left = and i64 %with_me, {TICKETS}
  %more = icmp ne i64 %left, 0
  br i1 %more, label %spread, label %prepare
spread:
  call void @wake_some(ptr %own, ptr %wake, ptr %parked)
  br label %prepare
prepare:
  %work_at = getelementptr i8, ptr %slot, i64 8
  %work = load ptr, ptr %work_at
  %block_at = getelementptr i8, ptr %slot, i64 16
  %block = load ptr, ptr %block_at
  %need_at = getelementptr i8, ptr %slot, i64 24
  %need = load i64, ptr %need_at
  %fits = icmp ule i64 %need, %size
  br i1 %fits, label %work_it, label %grow
grow:
  call void @free(ptr %room)
  %bytes = add i64 %need, 64
  %fresh = call ptr @malloc(i64 %bytes)
  %got = icmp ne ptr %fresh, null
  %size.got = select i1 %got, i64 %need, i64 0
  br i1 %got, label %work_it, label %finished   ; without memory the others do it
work_it:
  %room.mine = phi ptr [ %room, %prepare ], [ %fresh, %grow ]
  %size.mine = phi i64 [ %size, %prepare ], [ %size.got, %grow ]
  %address = ptrtoint ptr %room.mine to i64
  %up = add i64 %address, 63
  %line = and i64 %up, -64
  %scratch = inttoptr i64 %line to ptr
  call void %work(ptr %block, ptr %scratch)
  br label %finished
finished:
  %room.now = phi ptr [ %room.mine, %work_it ], [ null, %grow ]
  %size.now = phi i64 [ %size.mine, %work_it ], [ 0, %grow ]
  %done = atomicrmw sub ptr %active, i32 1 seq_cst
  %before = atomicrmw sub ptr %slot, i64 1 acq_rel
  %low = and i64 %before, 4294967295
  %waited_for = icmp eq i64 %low, {LAST_AWAITED}
  br i1 %waited_for, label %tell, label %look_again
tell:
  call void @wake(ptr %own, ptr %slot, i32 1)
  br label %look_again
look_again:
  br label %look

idle:
  %wide_awake = icmp eq i32 %sleepy, 0
  %busy = load atomic i32, ptr %active monotonic, align 4
  %cores = load atomic i32, ptr %limit monotonic, align 4
  %crowded = icmp sge i32 %busy, %cores
  %calm = xor i1 %crowded, true
  %spins = and i1 %wide_awake, %calm
  %begin = call i64 @now()
  %until.spin = add i64 %begin, {SPIN_NS}
  %until = select i1 %spins, i64 %until.spin, i64 %begin
  br label %spin
spin:
  %last = phi i64 [ %begin, %idle ], [ %time, %nothing_new ]
  %current = load atomic i32, ptr %wake acquire, align 4
  %same = icmp eq i32 %current, %seen
  br i1 %same, label %nothing_new, label %news
news:
  br label %look
nothing_new:
  call void @relax()
  %time = call i64 @now()
  %gap = sub i64 %time, %last
  %stolen = icmp sgt i64 %gap, {STOLEN_NS}
  %over = icmp sge i64 %time, %until
  %enough = or i1 %stolen, %over
  br i1 %enough, label %parking, label %spin
parking:
  %tired = sub i32 %sleepy, 1
  %rest = call i32 @llvm.smax.i32(i32 %tired, i32 0)
  %sleepy.now = select i1 %stolen, i32 {SLEEPY}, i32 %rest
  %p1 = atomicrmw add ptr %parked, i32 1 seq_cst
  call void @wait(ptr %own, ptr %wake, i32 %seen)
  %p2 = atomicrmw sub ptr %parked, i32 1 seq_cst
  br label %look

leave:
  call void @free(ptr %room)
  %others = atomicrmw sub ptr %serving, i32 1 seq_cst
  call void @wake(ptr %own, ptr %serving, i32 1)
  ret void
}}

declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)

define internal void @wake_some(ptr %own, ptr %wake, ptr %parked) {{
  %asleep = load atomic i32, ptr %parked seq_cst, align 4
  %some = icmp sgt i32 %asleep, 0
  br i1 %some, label %ring, label %end
ring:
  %few = call i32 @llvm.smin.i32(i32 %asleep, i32 {WOKEN})
  call void @wake(ptr %own, ptr %wake, i32 %few)
  br label %end
end:
  ret void
}}

; What a caller does: %helpers threads may join it.
define void @run(ptr %pool, ptr %work, ptr %block, ptr %scratch, i64 %need, i64 %helpers) {{
entry:
  %own = getelementptr i8, ptr %pool, i64 {PARKING}
  %wake = getelementptr i8, ptr %pool, i64 {WAKE}
  %parked = getelementptr i8, ptr %pool, i64 {PARKED}
  %active = getelementptr i8, ptr %pool, i64 {ACTIVE}
  %slots = getelementptr i8, ptr %pool, i64 {SLOTS_AT}
  %in = atomicrmw add ptr %active, i32 1 seq_cst
  %wanted = icmp sgt i64 %helpers, 0
  br i1 %wanted, label %search, label %alone
search:
  %n = phi i64 [ 0, %entry ], [ %n.next, %not_here ]
  %offset = mul i64 %n, {SLOT_BYTES}
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %state = load atomic i64, ptr %slot monotonic, align 8
  %mark = and i64 %state, {TAKEN}
  %free = icmp eq i64 %mark, 0
  br i1 %free, label %claim, label %not_here
not_here:
  %n.next = add i64 %n, 1
  %all = icmp eq i64 %n.next, {SLOTS}
  br i1 %all, label %alone, label %search
claim:
  %numbered = add i64 %state, {RUN}
  %mine = or i64 %numbered, {TAKEN}
  %swap = cmpxchg ptr %slot, i64 %state, i64 %mine acq_rel monotonic
  %won = extractvalue {{ i64, i1 }} %swap, 1
  br i1 %won, label %offer, label %not_here
offer:
  %work_at = getelementptr i8, ptr %slot, i64 8
  store ptr %work, ptr %work_at
  %block_at = getelementptr i8, ptr %slot, i64 16
  store ptr %block, ptr %block_at
  %need_at = getelementptr i8, ptr %slot, i64 24
  store i64 %need, ptr %need_at
  %tickets = mul i64 %helpers, {TICKET}
  %offered = atomicrmw add ptr %slot, i64 %tickets seq_cst
  %news = atomicrmw add ptr %wake, i32 1 seq_cst
  call void @wake_some(ptr %own, ptr %wake, ptr %parked)
  call void %work(ptr %block, ptr %scratch)
  %unused = atomicrmw and ptr %slot, i64 {NO_TICKETS} seq_cst
  %others = and i64 %unused, {WORKERS}
  %nobody = icmp eq i64 %others, 0
  br i1 %nobody, label %release, label %await

await:                                    ; those who have begun: at most for one of their pieces
  %begin = call i64 @now()
  %until = add i64 %begin, {SPIN_NS}
  br label %spin
spin:
  %state.2 = load atomic i64, ptr %slot acquire, align 8
  %others.2 = and i64 %state.2, {WORKERS}
  %nobody.2 = icmp eq i64 %others.2, 0
  br i1 %nobody.2, label %release, label %on
on:
  call void @relax()
  %time = call i64 @now()
  %over = icmp sge i64 %time, %until
  br i1 %over, label %sleep, label %spin
sleep:
  %marked = atomicrmw or ptr %slot, i64 {ASLEEP} seq_cst
  br label %asleep
asleep:
  %state.3 = load atomic i64, ptr %slot acquire, align 8
  %others.3 = and i64 %state.3, {WORKERS}
  %nobody.3 = icmp eq i64 %others.3, 0
  br i1 %nobody.3, label %release, label %doze
doze:
  %expected = trunc i64 %state.3 to i32
  call void @wait(ptr %own, ptr %slot, i32 %expected)
  br label %asleep
release:
  %open = atomicrmw and ptr %slot, i64 {RELEASED} release
  br label %out

alone:
  call void %work(ptr %block, ptr %scratch)
  br label %out

out:                                      ; there may be work that waits for a free core
  %was = atomicrmw sub ptr %active, i32 1 seq_cst
  %limit = getelementptr i8, ptr %pool, i64 {LIMIT}
  %cores = load atomic i32, ptr %limit monotonic, align 4
  %full = icmp sge i32 %was, %cores
  br i1 %full, label %hand_on, label %end
hand_on:
  %again = atomicrmw add ptr %wake, i32 1 seq_cst
  call void @wake_some(ptr %own, ptr %wake, ptr %parked)
  br label %end
end:
  ret void
}}

; Run after run, each of five words: work, block, scratch, need, helpers.
define void @run_each(ptr %pool, ptr %runs, i64 %count) {{
entry:
  br label %check
check:
  %n = phi i64 [ 0, %entry ], [ %n.next, %do ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %do, label %end
do:
  %first = mul i64 %n, 5
  %work_at = getelementptr i64, ptr %runs, i64 %first
  %work = load ptr, ptr %work_at
  %block_at = getelementptr i64, ptr %work_at, i64 1
  %block = load ptr, ptr %block_at
  %scratch_at = getelementptr i64, ptr %work_at, i64 2
  %scratch = load ptr, ptr %scratch_at
  %need_at = getelementptr i64, ptr %work_at, i64 3
  %need = load i64, ptr %need_at
  %helpers_at = getelementptr i64, ptr %work_at, i64 4
  %helpers = load i64, ptr %helpers_at
  call void @run(ptr %pool, ptr %work, ptr %block, ptr %scratch, i64 %need, i64 %helpers)
  %n.next = add i64 %n, 1
  br label %check
end:
  ret void
}}

; Shared memory for a pool. It is never freed: a thread that is just being born looks at it.
define ptr @new() {{
entry:
  %bytes = add i64 {BYTES}, 64
  %fresh = call ptr @malloc(i64 %bytes)
  %got = icmp ne ptr %fresh, null
  br i1 %got, label %clear, label %end
clear:
  %address = ptrtoint ptr %fresh to i64
  %up = add i64 %address, 63
  %line = and i64 %up, -64
  %pool = inttoptr i64 %line to ptr
  call void @llvm.memset.p0.i64(ptr %pool, i8 0, i64 {BYTES}, i1 false)
  br label %end
end:
  %result = phi ptr [ null, %entry ], [ %pool, %clear ]
  ret ptr %result
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; Have all helpers end, and wait until they have.
define void @close(ptr %pool) {{
  %own = getelementptr i8, ptr %pool, i64 {PARKING}
  %wake = getelementptr i8, ptr %pool, i64 {WAKE}
  %stop = getelementptr i8, ptr %pool, i64 {STOP}
  %serving = getelementptr i8, ptr %pool, i64 {SERVING}
  store atomic i32 1, ptr %stop seq_cst, align 4
  %news = atomicrmw add ptr %wake, i32 1 seq_cst
  call void @wake(ptr %own, ptr %wake, i32 2147483647)
  br label %check
check:
  %left = load atomic i32, ptr %serving seq_cst, align 4
  %none = icmp eq i32 %left, 0
  br i1 %none, label %end, label %sleep
sleep:
  call void @wait(ptr %own, ptr %serving, i32 %left)
  br label %check
end:
  ret void
}}

; Work that is done when so many threads are at it, to measure how long that takes. Its block: how many have
; come, how many are expected, when to give up, and when each of them came.
define void @meet(ptr %block, ptr %scratch) {{
entry:
  %arrival = call i64 @now()
  %come = atomicrmw add ptr %block, i64 1 seq_cst
  %place = add i64 %come, 3
  %arrival_at = getelementptr i64, ptr %block, i64 %place
  store i64 %arrival, ptr %arrival_at
  %expected_at = getelementptr i64, ptr %block, i64 1
  %expected = load i64, ptr %expected_at
  %until_at = getelementptr i64, ptr %block, i64 2
  %until = load i64, ptr %until_at
  br label %check
check:
  %here = load atomic i64, ptr %block acquire, align 8
  %all = icmp sge i64 %here, %expected
  br i1 %all, label %end, label %on
on:
  call void @relax()
  %time = call i64 @now()
  %late = icmp sge i64 %time, %until
  br i1 %late, label %end, label %check
end:
  ret void
}}
"""


def text_of_pool(**others: int) -> str:
    """The text, without what sleeps and wakes; other numbers than its own are for who examines it."""
    numbers = {
        "WAKE": _WAKE, "PARKED": _PARKED, "ACTIVE": ACTIVE, "LIMIT": LIMIT, "STOP": _STOP,
        "SERVING": SERVING, "SLOTS_AT": _SLOTS_AT, "SLOTS": SLOTS, "SLOT_BYTES": _SLOT_BYTES,
        "TICKET": _TICKET, "TICKETS": 0xFFFF * _TICKET, "TICKET_LESS_ONE": _TICKET - 1,
        "NO_TICKETS": ~(0xFFFF * _TICKET), "WORKERS": _ASLEEP - 1, "ASLEEP": _ASLEEP,
        "LAST_AWAITED": _ASLEEP + 1, "TAKEN": _TAKEN, "RUN": _RUN,
        "RELEASED": ~(_TAKEN + _ASLEEP), "WOKEN": WOKEN, "SPIN_NS": SPIN_NS,
        "STOLEN_NS": STOLEN_NS, "SLEEPY": SLEEPY, "PARKING": PARKING, "BYTES": _BYTES,
    }  # fmt: skip
    return _TEXT.format(**{**numbers, **others})


class PoolCode:
    """The machine code, once per process tree."""

    def __init__(self) -> None:
        system = parking.find_system()
        self.prepare = system.prepare
        self._module = module = Module(text_of_pool() + system.text)
        address, word = ctypes.c_void_p, ctypes.c_int64
        self.new = module.function("new", address)
        self.serve = module.address("serve")
        self.run = module.function("run", None, address, address, address, address, word, word)
        self.run_each = module.function("run_each", None, address, address, word)
        self.close = module.function("close", None, address)
        self.now = module.function("now", word)
        self.meet = module.address("meet")


@once
def pool_code() -> PoolCode:
    """The code, compiled once."""
    return PoolCode()
