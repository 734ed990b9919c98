-- Records how a group uses a topic, and returns the groups that use it in another way: perhaps they do not know of each
-- other.
--
-- KEYS     1 the topic: hash, beside its number of shards: user:<group> → last time (millis)|shards|format of payloads
-- ARGV     1 group, 2 number of shards in its settings, 3 format of its payloads, 4 time (millis) after which a group that
--          was not recorded again no longer counts
-- result   group, shards and format of each other group for which one of the two is different
-- memory   refused at `maxmemory`, and repeated later
-- cost     O(groups); none is compared with more than 10,000 fields, which others must have written

local PREFIX = 'user:'
local MOST_FIELDS = 10000

local time = redis.call('TIME')
local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local now = string.format('%.0f', nowMillis)

redis.call('HSET', KEYS[1], PREFIX .. ARGV[1], now .. '|' .. ARGV[2] .. '|' .. ARGV[3])

local different = {}
if redis.call('HLEN', KEYS[1]) > MOST_FIELDS then
  return different
end
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local group = string.sub(fields[i], 1, #PREFIX) == PREFIX and string.sub(fields[i], #PREFIX + 1)
  local last, shards, format = string.match(fields[i + 1], '^(%d+)|(%d+)|(.*)$')
  if group and last and math.abs(nowMillis - tonumber(last)) > tonumber(ARGV[4]) then
    redis.call('HDEL', KEYS[1], fields[i])
  elseif group and last and group ~= ARGV[1] and (shards ~= ARGV[2] or format ~= ARGV[3]) then
    table.insert(different, bounded(group, 200))
    table.insert(different, shards)
    table.insert(different, bounded(format, 1000))
  end
end
return different
