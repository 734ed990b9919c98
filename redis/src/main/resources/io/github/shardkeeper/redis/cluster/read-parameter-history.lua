-- Reads the last changes of a parameter, the newest first.
--
-- ARGV     1 name, 2 most entries
-- result   entries as in :parameterHistory
-- cost     O(changes of the parameter)

local LONGEST = 100000

local entries = redis.call('ZREVRANGEBYLEX', HISTORY, '[' .. ARGV[1] .. '|\255', '[' .. ARGV[1] .. '|', 'LIMIT', 0, ARGV[2])
local reply = {}
for _, entry in ipairs(entries) do
  if #entry <= LONGEST then
    reply[#reply + 1] = entry
  end
end
return reply
