-- Adds what owners know of the moves of their shards to the history of a group, as one entry, and removes the oldest
-- entries.
--
-- KEYS     1 <prefix>:{<group>}:moves  stream; the entry has the field `phases`: a line for each shard with the shard,
--            the token of its owner, and the times (millis) at which this owner has drained it, acquired it, and handled
--            its first record, 0 for a time that is not known
-- ARGV     1 most entries, 2 time to keep an entry (millis), then for each shard the shard, the token, and how long ago
--          (millis) each of the three was, -1 if it is not known
-- result   OK
-- keeps    nothing: phases may be missing, or there twice
-- cost     O(shards), at most 250 of them
--
-- Refused at `maxmemory`: nobody needs the history to consume.

local MOVES = KEYS[1]
local VALUES = 5

local time = redis.call('TIME')
local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local lines = {}
for first = 3, #ARGV, VALUES do
  local line = {ARGV[first], ARGV[first + 1]}
  for i = first + 2, first + VALUES - 1 do
    local age = tonumber(ARGV[i])
    line[#line + 1] = age < 0 and '0' or string.format('%.0f', nowMillis - age)
  end
  lines[#lines + 1] = table.concat(line, ' ')
end
redis.call('XADD', MOVES, 'MAXLEN', '~', ARGV[1], '*', 'phases', table.concat(lines, '\n'))
local oldest = math.max(0, nowMillis - tonumber(ARGV[2]))
redis.call('XTRIM', MOVES, 'MINID', '~', string.format('%.0f-0', oldest))
return 'OK'
