-- Changes records in a shard's retry queue for people.
--
-- ARGV     1 RETRY_NOW: due now; SEND_BACK: due now, as records that were never tried; or DROP: removed; then offsets
-- result   number of records that were changed; an error, and none is changed, if memory or a right is missing
-- memory   RETRY_NOW and SEND_BACK are refused at `maxmemory`; DROP needs none
-- cost     O(offsets * log of the retry queue); SEND_BACK copies the records

local changed = 0
if ARGV[1] == 'DROP' then
  -- A missing right shows only when a command is called: first call all in a way that changes nothing.
  redis.call('ZREM', RETRY, '')
  redis.call('HDEL', RETRIED, '')
  local before = countEntries()
  local recorded = recordedSizes(redis.call('HGET', CHECKPOINT, 'sizes'), before)
  recordSizes(recorded, before)
  for i = 2, #ARGV do
    changed = changed + redis.call('ZREM', RETRY, ARGV[i])
    redis.call('HDEL', RETRIED, ARGV[i])
  end
  recordSizes(recorded, before)
  return changed
end
local tried = redis.pcall('ZADD', RETRY, 'XX', 0, '')
if lacksMemory(tried) then
  return redis.error_reply('OOM Redis has reached maxmemory, so what waits in ' .. RETRY ..
    ' stays as it is; raise maxmemory or free memory, and repeat it')
end
if type(tried) == 'table' then
  -- Any other error is raised here.
  redis.call('ZADD', RETRY, 'XX', 0, '')
end
for i = 2, #ARGV do
  local record = redis.call('HGET', RETRIED, ARGV[i])
  if record then
    if ARGV[1] == 'SEND_BACK' then
      local untried = string.gsub(record, '^{"attempts":%d+', '{"attempts":0', 1)
      redis.call('HSET', RETRIED, ARGV[i], untried)
    end
    redis.call('ZADD', RETRY, text(nowMillis), ARGV[i])
    changed = changed + 1
  end
end
return changed
