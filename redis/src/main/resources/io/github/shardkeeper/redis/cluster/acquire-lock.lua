-- Acquires a lock, or joins those that wait for it. Repeatable with the same ticket.
--
-- ARGV     1 session, 2 lock, 3 ticket, 4 least time to hold it (millis), 5 most time to hold it (millis) or 0,
--          6 '1' to wait for it or '0'
-- result   {'GRANTED', token, time until it is free again (millis) or -1}; {'HELD', time after which to ask again
--          (millis) or -1 if a message will tell}; {'NO_SESSION'} if the session is unknown or has no lease;
--          {'UNREADABLE', value} if others have written the lock's entry
-- keeps    who waits gets the lock in the order of asking; who does not wait overtakes nobody
-- cost     O(log waiters)

writeBeforeWait(GROUP)

local session, name, ticket, least, most, waits = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1'
if not hasLease(session) then
  return {'NO_SESSION'}
end
local record = lock(name)
if record and record.unreadable then
  return {'UNREADABLE', record.unreadable}
end
if record and record.ticket == ticket and record.session == session then
  if record.freeAt == 0 then
    return {'GRANTED', record.token, '-1'}
  elseif record.freeAt > nowMillis then
    return {'GRANTED', record.token, text(record.freeAt - nowMillis)}
  end
end
if isInClaimPeriod() then
  return {'HELD', '100'}
end
local at = freeAt(record)
if at == 0 then
  local first, others = firstWaiter(name)
  if not first or first.ticket == ticket then
    if first or others then
      forgetTicket(ticket)
    end
    if first then
      redis.call('ZREM', WAITERS, first.entry)
    end
    local token = grant(name, session, ticket, least, most)
    return {'GRANTED', token, tonumber(most) > 0 and most or '-1'}
  end
  grantNext(name, record)
  at = -1
end
if waits and not isWaiting(ticket) then
  -- Not lower than the time, so that the order stays when the last number is lost.
  local last = math.max((wholeNumber(redis.call('HGET', TICKETS, '#')) or 0) + 1, nowMicros)
  redis.call('HSET', TICKETS, '#', text(last))
  local entry = table.concat({name, string.format('%016.0f', last), ticket, session, least, most}, '|')
  redis.call('ZADD', WAITERS, 0, entry)
  redis.call('HSET', TICKETS, ticket, entry)
end
return {'HELD', at > 0 and text(at - nowMillis) or '-1'}
