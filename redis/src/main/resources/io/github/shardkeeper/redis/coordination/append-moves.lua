-- Adds moves to the history of a group, and removes the oldest entries.
--
-- KEYS     1 <prefix>:{<group>}:moves  stream, an entry for each move
-- ARGV     1 most entries, 2 time to keep an entry (millis), then for each move its values, in the order of FIELDS; an
--          empty one is left out, except for those of the first format
-- result   number of entries added
-- keeps    nothing: moves may be missing, and one may be there twice
-- cost     O(moves), at most 100 of them
--
-- Refused at `maxmemory`: nobody needs the history to consume.

local MOVES = KEYS[1]
local FIELDS = {'shard', 'from', 'to', 'token', 'cause', 'planned', 'released', 'assigned', 'former', 'why', 'by'}
local ALWAYS = 8

local time = redis.call('TIME')
local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local added = 0
for first = 3, #ARGV, #FIELDS do
  local entry = {}
  for i, field in ipairs(FIELDS) do
    local value = ARGV[first + i - 1]
    if i <= ALWAYS or value ~= '' then
      entry[#entry + 1] = field
      entry[#entry + 1] = value
    end
  end
  redis.call('XADD', MOVES, 'MAXLEN', '~', ARGV[1], '*', unpack(entry))
  added = added + 1
end
local oldest = math.max(0, nowMillis - tonumber(ARGV[2]))
redis.call('XTRIM', MOVES, 'MINID', '~', string.format('%.0f-0', oldest))
return added
