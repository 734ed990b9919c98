-- Reads a part of the history of a group, without what others have added to its entries.
--
-- KEYS     1 <prefix>:{<group>}:moves  stream, see append-moves.lua and append-phases.lua
-- ARGV     1 NEWEST to begin with the newest entry, or OLDEST, 2 id of the entry before the first one, '' for none,
--          3 most entries, 4 time to keep an entry (millis): older ones are left out, 5 bytes after which to stop
-- result   {'1' if there may be more of them or '0', then per entry: id, {field, value, ...}}
-- memory   needs none
-- cost     O(entries in the reply)

local MOVES, newestFirst, from, limit, room = KEYS[1], ARGV[1] == 'NEWEST', ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[5])
local LONGEST = 100000
local KNOWN = {shard = true, from = true, to = true, token = true, cause = true, planned = true, released = true,
  assigned = true, former = true, why = true, by = true, phases = true}

local time = redis.call('TIME')
local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local oldestMillis = math.max(0, nowMillis - tonumber(ARGV[4]))
local oldest = string.format('%.0f-0', oldestMillis)

-- Returns the entry after an id; one by one, because the size of an entry is known only after it is read.
local function following(id)
  if newestFirst then
    return redis.call('XREVRANGE', MOVES, id == '' and '+' or '(' .. id, oldest, 'COUNT', 1)[1]
  end
  local isKept = id ~= '' and tonumber(string.match(id, '^%d+') or '0') >= oldestMillis
  return redis.call('XRANGE', MOVES, isKept and '(' .. id or oldest, '+', 'COUNT', 1)[1]
end

local result = {'1'}
while #result < 2 * limit and room > 0 do
  local entry = following(from)
  if not entry then
    result[1] = '0'
    break
  end
  from = entry[1]
  local fields = {}
  for i = 1, #entry[2], 2 do
    if KNOWN[entry[2][i]] then
      fields[#fields + 1] = entry[2][i]
      fields[#fields + 1] = bounded(entry[2][i + 1], LONGEST)
      room = room - #fields[#fields]
    end
  end
  result[#result + 1] = from
  result[#result + 1] = fields
end
return result
