-- Stores what a session has handled, and returns what it has to handle. The first call for a name registers the session
-- as one that listens. Repeatable.
--
-- KEYS     4 :cluster, 5 :signals, 6 :signalAcks
-- ARGV     1 session, then per name: name, number of the last signal that its process has handled or 0, LISTENS, OK or
--          FAILED, reason of the failure, millis: the maximum age of a signal that was sent before the session began
--          to listen, or less than 0
-- result   {'NO_SESSION'}, or {'KNOWN', then per name: '' for nothing new, 'UNREADABLE' or the number of the signal to
--          handle; the millis when it was sent, or ''; its payload, the unreadable entry, or ''}
-- keeps    the number of an entry never gets lower. A signal whose retention is over when the session begins to listen,
--          or that is older than it wants, is none that it has to handle. An entry with a number that no signal has had yet counts as none: only others
--          can have written it
-- cost     O(names)

local CLUSTER, SIGNALS, ACKS = KEYS[4], KEYS[5], KEYS[6]
local session = ARGV[1]
if not isMember(session) then
  return {'NO_SESSION'}
end
writeAtMaxmemory('HDEL', ACKS)
local last = lastSignal(CLUSTER)
local reply = {'KNOWN'}
for i = 2, #ARGV, 5 do
  local name, number, outcome, reason = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2], ARGV[i + 3]
  local earliest = nowMillis - tonumber(ARGV[i + 4])
  local signal = latestSignal(SIGNALS, name)
  local latest = signal and signal.number or 0
  local field = name .. '|' .. session
  local entry = redis.call('HGET', ACKS, field)
  local known = entry and wholeNumber(string.match(entry, '^(%d+)|%u+|'))
  if known and known > math.max(last, latest) then
    known = nil
  end
  if not known and number < latest and (signal.retained <= nowMillis or tonumber(signal.sent) < earliest) then
    number, outcome, reason = latest, 'LISTENS', ''
  elseif not known and number == 0 and latest == 0 then
    number = last
  end
  if not known or number > known then
    redis.call('HSET', ACKS, field, table.concat({text(number), outcome, reason}, '|'))
    if outcome ~= 'LISTENS' and number == latest then
      tell(signal.address, table.concat({'signaled', name, text(number), session, outcome, reason}, '|'))
    end
  end
  local isNew = latest > math.max(number, known or 0)
  reply[#reply + 1] = signal and signal.unreadable and 'UNREADABLE' or isNew and text(latest) or ''
  reply[#reply + 1] = isNew and signal.sent or ''
  reply[#reply + 1] = signal and signal.unreadable or isNew and signal.payload or ''
end
return reply
