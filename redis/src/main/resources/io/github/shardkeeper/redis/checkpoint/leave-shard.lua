-- Leaves a shard to the application's database: the checkpoint there counts from now on, and the one here is from before.
--
-- ARGV     1 token, 2 token of the checkpoint that the database has, 0 for none; '' if the caller has carried the one that
--          is here over since it acquired it under its token, 3 number of the last seek that the database has carried
--          out, 4 '1' if the database has commits under its token since it was carried over
-- result   1: the one in the database counts, and the fence is at the token, or above it; 0: the one here does, and nothing
--          is written
-- keeps    a checkpoint is left behind only if the one in the database is newer: of a higher token, of the same one with
--          later commits, or a copy of it, since which nobody has acquired the shard or requested a seek. Which one counts
--          is never in doubt after lost writes. A request that gives the one in the database up is carried out here first
-- memory   accepted at `maxmemory`: a few fields, in place of retry queue and timers
-- cost     O(1); large values are freed in the background

writeBeforeWait(CHECKPOINT)

local checkpoint = redis.call('HMGET', CHECKPOINT, 'fence', 'elsewhere', 'seek', 'sizes')
local fence = tonumber(checkpoint[1] or '0')
if checkpoint[2] and checkpoint[3] and clearsState(checkpoint[3]) then
  return 0
end
if not checkpoint[2] then
  local newer
  if ARGV[2] == '' then
    newer = fence == tonumber(ARGV[1]) and seekNumber(checkpoint[3]) <= tonumber(ARGV[3])
  else
    newer = fence < tonumber(ARGV[2]) or fence == tonumber(ARGV[2]) and ARGV[4] == '1'
  end
  if not newer then
    return 0
  end
  -- What was carried over must not be handled or counted here a second time. The state stays, for people.
  local state = recordedSizes(checkpoint[4], countEntries()).state
  redis.call('UNLINK', RETRY, RETRIED, SEQUENCES, OUTBOX, TIMERS)
  redis.call('HSET', CHECKPOINT, 'elsewhere', 1, 'sizes', text(state) .. ' 0 0 0')
  redis.call('HDEL', CHECKPOINT, 'seek')
end
if fence < tonumber(ARGV[1]) then
  raiseFence(ARGV[1], fence)
end
return 1
