-- Writes offset and state changes of a shard in one step, if the fence stands at the writer's token.
--
-- KEYS     1 checkpoint hash (fence, offset, committed), 2 state hash
-- ARGV     1 token, 2 offset or '' to leave it, 3 number of entries to put, key, value, …, then keys to remove
-- result   'COMMITTED' or 'STALE'
-- keeps    all of it is written or nothing
-- cost     O(changes)

if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then
  return 'STALE'
end
local time = redis.call('TIME')
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], 'offset', ARGV[2])
end
redis.call('HSET', KEYS[1], 'committed', time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000)))
local puts = tonumber(ARGV[3])
for i = 4, 3 + 2 * puts, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
for i = 4 + 2 * puts, #ARGV do
  redis.call('HDEL', KEYS[2], ARGV[i])
end
return 'COMMITTED'
