-- Frees what members held that are gone, and fails with what is wrong. For read-view.lua, which could not.
--
-- KEYS     as in read-view.lua
-- result   1
-- cost     O(locks + those that wait + parties of all barriers + signals that members have handled)

writeAtMaxmemory('HDEL', KEYS[7])
freeLocksOfGoneMembers()
freeBarriersOfGoneMembers(redis.call('HGET', KEYS[7], 'view') or '0')
forgetSignals(KEYS[8], KEYS[9])
return 1
