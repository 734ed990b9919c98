-- Closes the retry queue of a shard whose last record was handled: nothing is sent back into it any more.
--
-- ARGV     1 token, 2 number of the last answered commit under it, 0 for none, 3 acquisition that it is based on, 0 for
--          none
-- result   'COMPLETED'; 'PENDING' if the retry queue has records, timers wait, or a seek is pending; 'STALE' if a newer
--          token was there before; or 'GONE' if Redis has lost the acquisition under the token, the answered commit, or
--          entries of the state or the outbox; an error if entries of the retry queue or timers are missing
-- keeps    a record in the retry queue, a timer, or a seek, has an owner; a newer token opens the queue again; a shard whose
--          commits are lost is not completed
-- memory   accepted at `maxmemory`: a field
-- cost     O(1)

writeBeforeWait(CHECKPOINT)

local checkpoint = redis.call('HMGET', CHECKPOINT, 'fence', 'commit', 'acquired')
local fence, last = tonumber(checkpoint[1] or '0'), tonumber(checkpoint[2] or '0')
if fence ~= tonumber(ARGV[1]) then
  return fence > tonumber(ARGV[1]) and 'STALE' or 'GONE'
end
if last < tonumber(ARGV[2]) or ARGV[3] ~= '0' and ARGV[3] ~= checkpoint[3] then
  return 'GONE'
end
if missingEntries('state') or missingEntries('outbox') then
  return 'GONE'
end
local missing = missingEntries('retry') or missingEntries('timers')
if missing then
  return missing
end
if redis.call('ZCARD', RETRY) > 0 then
  return 'PENDING'
end
if redis.call('ZCARD', TIMERS) > 0 then
  return 'PENDING'
end
if redis.call('HEXISTS', CHECKPOINT, 'seek') == 1 then
  return 'PENDING'
end
redis.call('HSET', CHECKPOINT, 'completed', 1)
return 'COMPLETED'
