-- Closes the retry queue of a shard whose last record was handled: nothing is sent back into it any more.
--
-- ARGV     1 token, 2 number of the last commit under it that was answered, 0 for none, 3 which acquisition that
--          rests on, 0 for none
-- result   'COMPLETED'; 'PENDING' when there are records in the retry queue, or a seek; 'STALE' when a newer token was
--          there before; or 'GONE' when Redis has lost the acquisition under the token, or the commit that was answered
-- keeps    a record in the retry queue, or a seek, has somebody who looks for it; under a newer token the queue is open
--          again; what is not committed for good is not at its end
-- memory   gets through at `maxmemory`: a field
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
if redis.call('ZCARD', RETRY) > 0 then
  return 'PENDING'
end
if redis.call('HEXISTS', CHECKPOINT, 'seek') == 1 then
  return 'PENDING'
end
redis.call('HSET', CHECKPOINT, 'completed', 1)
return 'COMPLETED'
