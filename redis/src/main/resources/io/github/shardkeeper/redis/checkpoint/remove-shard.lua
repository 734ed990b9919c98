-- Removes all data of a shard whose topic is retired. Repeatable.
--
-- ARGV     1 newest token under which it may have been acquired
-- result   1, also if there was nothing; or 0 if it was acquired under a newer token: it is consumed again
-- keeps    nothing is removed that was acquired after the topic was forgotten
-- memory   needs none
-- cost     O(1); large values are freed in the background

writeBeforeWait(CHECKPOINT)

if tonumber(redis.call('HGET', CHECKPOINT, 'fence') or '0') > tonumber(ARGV[1]) then
  return 0
end
redis.call('UNLINK', unpack(KEYS))
return 1
