-- Stores a signal in the place of the last one of its name, and tells all.
--
-- KEYS     4 :cluster, 5 :signals, 6 :signalAcks
-- ARGV     1 name, 2 retention (millis), 3 address of the sender, 4 payload
-- result   number of the signal
-- keeps    the number is higher than that of every earlier signal: max(last + 1, time in microseconds)
-- cost     O(1); with every 256th new name O(names + acknowledgements)

writeBeforeWait(GROUP)

local CLUSTER, SIGNALS = KEYS[4], KEYS[5]
local name, retention, address, payload = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local previous = latestSignal(SIGNALS, name)
local last = math.max(lastSignal(CLUSTER), previous and previous.number or 0)
local number = text(math.max(last + 1, nowMicros))
-- First: without the right to it, nothing is sent.
tellAll('signal|' .. name .. '|' .. number)
-- Reading a changed view forgets signals, too, but names may be made up while no member comes or goes.
if not previous and redis.call('HLEN', SIGNALS) % 256 == 255 then
  forgetSignals(SIGNALS, KEYS[6])
end
redis.call('HSET', CLUSTER, 'signals', number)
redis.call('HSET', SIGNALS, name, table.concat({number, text(nowMillis), text(nowMillis + retention), address, payload}, '|'))
return number
