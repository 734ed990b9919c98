-- Reads timers of a shard in the order of their times, those of one time by their members. Removes none.
--
-- ARGV     1 most timers to read, 2 most bytes, which the first timer may exceed; then, unless it begins, 3 member and 4
--          time of the last timer that was read, which may have been removed
-- result   {member, millis when it is due, …}
-- memory   needs none
-- cost     O(timers in the reply + log² of all), and what is read is copied: the caller asks for 1 MB at most

local missing = missingEntries('timers')
if missing then
  return missing
end

-- Returns whether a member comes after another one in Redis' order of bytes, which is not that of Lua in every locale.
local function isAfter(member, other)
  for i = 1, math.min(#member, #other) do
    local one, two = string.byte(member, i), string.byte(other, i)
    if one ~= two then
      return one > two
    end
  end
  return #member > #other
end

-- Number of timers that were read before.
local passed = 0
if ARGV[3] then
  local time, unread = tonumber(ARGV[4]), redis.call('ZCARD', TIMERS)
  while passed < unread do
    local middle = math.floor((passed + unread) / 2)
    local found = redis.call('ZRANGE', TIMERS, middle, middle, 'WITHSCORES')
    local due = tonumber(found[2])
    if due > time or due == time and isAfter(found[1], ARGV[3]) then
      unread = middle
    else
      passed = middle + 1
    end
  end
end

local limit, room = tonumber(ARGV[1]), tonumber(ARGV[2])
local result = {}
while #result < 2 * limit do
  local some = math.min(100, limit - #result / 2)
  local found = redis.call('ZRANGE', TIMERS, passed, passed + some - 1, 'WITHSCORES')
  for i = 1, #found, 2 do
    room = room - #found[i]
    if room < 0 and #result > 0 then
      return result
    end
    result[#result + 1] = found[i]
    result[#result + 1] = text(tonumber(found[i + 1]))
  end
  passed = passed + some
  if #found < 2 * some then
    break
  end
end
return result
