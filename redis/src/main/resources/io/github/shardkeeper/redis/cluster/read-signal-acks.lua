-- Returns what the members that listen to a signal have handled last.
--
-- KEYS     4 :signalAcks
-- ARGV     1 name
-- result   per session that is registered and known to the group: session, its entry
-- cost     O(members)

local ACKS, name = KEYS[4], ARGV[1]
local sessions = redis.call('HKEYS', MEMBERS)
local reply = {}
-- Lua passes at most some thousand values to a call.
for from = 1, #sessions, 1000 do
  local to = math.min(from + 999, #sessions)
  local fields = {}
  for i = from, to do
    fields[#fields + 1] = name .. '|' .. sessions[i]
  end
  local entries = redis.call('HMGET', ACKS, unpack(fields))
  for i = from, to do
    local entry = entries[i - from + 1]
    if entry then
      reply[#reply + 1] = sessions[i]
      reply[#reply + 1] = bounded(entry, 16384)
    end
  end
end
return reply
