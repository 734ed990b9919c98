-- Reads the last changes of a parameter, the newest first.
--
-- ARGV     1 name
-- result   entries as in :parameterHistory
-- cost     O(changes of the parameter)

return redis.call('ZREVRANGEBYLEX', HISTORY, '[' .. ARGV[1] .. '|\255', '[' .. ARGV[1] .. '|')
