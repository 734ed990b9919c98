-- Takes entries that are too many or too old from the beginning of a stream.
-- KEYS[1]  the stream
-- ARGV[1]  the first entry that must stay, the lowest checkpoint of all groups; empty: any may go
-- ARGV[2]  how many entries may be there; empty: any number
-- ARGV[3]  how old entries may become, in milliseconds of Redis' time; empty: any age
-- Returns how many entries have gone.
-- Nothing goes that has or comes after the id ARGV[1]. Whole nodes of the stream only, so
-- about a hundred entries more than asked for may stay. O(entries that go).
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
