-- Lists the names of texts for people.
--
-- KEYS     1 the hash, which need not exist
-- result   the names
-- memory   needs none
-- cost     O(names)

return redis.call('HKEYS', KEYS[1])
