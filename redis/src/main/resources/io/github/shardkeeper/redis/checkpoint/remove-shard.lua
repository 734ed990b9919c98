-- Removes all that is kept of a shard whose topic is retired. Repeatable.
--
-- ARGV     1 the newest token under which it may have been acquired
-- result   1, also when there was nothing; or 0, when somebody has acquired it under a newer one: it is consumed again
-- keeps    nothing is taken from who has acquired the shard since the topic was forgotten
-- memory   needs none
-- cost     O(1); what is large is freed in the background

writeBeforeWait(CHECKPOINT)

if tonumber(redis.call('HGET', CHECKPOINT, 'fence') or '0') > tonumber(ARGV[1]) then
  return 0
end
redis.call('UNLINK', unpack(KEYS))
return 1
