-- Returns the locks that a session holds.
--
-- ARGV     1 session
-- result   per lock: its name, the ticket
-- cost     O(locks)

local reply = {}
for _, name in ipairs(redis.call('HKEYS', LOCKS)) do
  local record = lock(name)
  if record.session == ARGV[1] then
    reply[#reply + 1] = name
    reply[#reply + 1] = record.ticket
  end
end
return reply
