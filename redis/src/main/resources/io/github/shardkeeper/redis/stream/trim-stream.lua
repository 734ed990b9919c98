-- Removes entries from the beginning of a stream that are too many or too old.
--
-- KEYS     1 the stream
-- ARGV     1 first entry that must stay, the lowest checkpoint of all groups, or '' for none, 2 most entries to keep,
--          or '' for no limit, 3 maximum age of an entry (millis of Redis' time), or '' for no limit
-- result   number of removed entries
-- keeps    the entry ARGV[1] and all after it. Only whole nodes of the stream are removed: about a hundred entries more
--          may stay
-- memory   needs none
-- cost     O(entries removed)

local stay, most, age = ARGV[1], ARGV[2], ARGV[3]
local gone = 0
if most ~= '' then
  local excess = redis.call('XLEN', KEYS[1]) - tonumber(most)
  if excess > 0 and stay == '' then
    gone = redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', most)
  elseif excess > 0 then
    gone = redis.call('XTRIM', KEYS[1], 'MINID', '~', stay, 'LIMIT', excess)
  end
end
if age ~= '' then
  local time = redis.call('TIME')
  local oldest = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) - tonumber(age)
  if oldest > 0 then
    local id = string.format('%.0f-0', oldest)
    if stay ~= '' and tonumber(string.match(stay, '^%d+')) < oldest then
      id = stay
    end
    gone = gone + redis.call('XTRIM', KEYS[1], 'MINID', '~', id)
  end
end
return gone
