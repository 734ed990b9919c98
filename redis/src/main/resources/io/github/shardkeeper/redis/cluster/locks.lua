-- Common beginning of the scripts that change locks, after cluster.lua.
--
-- KEYS     4 :locks        hash  lock -> session|ticket|token|since millis|not free before millis|free at millis, 0 for
--                          only when it is released. Without a session it is not held, and not free yet
--          5 :lockWaiters  zset  lock|number, 16 digits|ticket|session|least time to hold|most time to hold, or 0; all
--                          with the score 0 and so in the order in which they asked
--          6 :lockTickets  hash  ticket -> its entry in 5
--          A ticket is <address of the instance>.<number>.
-- keeps    a lock has one holder; its token is higher than that of every earlier holder. Who holds it does not wait

local LOCKS, WAITERS, TICKETS = KEYS[4], KEYS[5], KEYS[6]

-- Returns the record of a lock; nil for none. One that cannot be read, which only others can have written, has nothing
-- but its value as `unreadable`: nobody gets that lock.
local function lock(name)
  local value = redis.call('HGET', LOCKS, name)
  if not value then
    return nil
  end
  local session, ticket, token, since, notBefore, freeAt =
    string.match(value, '^([^|]*)|([^|]*)|(%d+)|(%d+)|(%d+)|(%d+)$')
  if not session then
    return {unreadable = beginning(value)}
  end
  return {session = session, ticket = ticket, token = token, notBefore = tonumber(notBefore), freeAt = tonumber(freeAt)}
end

-- Returns when a lock is free: 0 for now, -1 if only its release tells.
local function freeAt(record)
  if not record then
    return 0
  end
  local at = record.notBefore
  if record.session ~= '' and isMember(record.session) then
    if record.freeAt == 0 then
      return -1
    end
    at = math.max(at, record.freeAt)
  end
  return at > nowMillis and at or 0
end

-- Returns the token.
local function grant(name, session, ticket, leastMillis, mostMillis)
  local token = nextToken()
  local most = tonumber(mostMillis)
  redis.call('HSET', LOCKS, name, table.concat({session, ticket, token, text(nowMillis),
    text(nowMillis + tonumber(leastMillis)), most > 0 and text(nowMillis + most) or '0'}, '|'))
  return token
end

local function forgetTicket(ticket)
  local entry = redis.call('HGET', TICKETS, ticket)
  if entry then
    redis.call('ZREM', WAITERS, entry)
    redis.call('HDEL', TICKETS, ticket)
  end
end

-- Whether a ticket is among those that wait. Either key may have lost it.
local function isWaiting(ticket)
  local entry = redis.call('HGET', TICKETS, ticket)
  return entry and redis.call('ZSCORE', WAITERS, entry) and true or false
end

-- Returns entry, ticket, session and times of the first that waits and can take a lock, nil for none; and whether others
-- keep their place, whose lease has ended. O(log waiters + waiters without a lease)
local function firstWaiter(name)
  local from, at = '[' .. name .. '|', 0
  while true do
    local entries = redis.call('ZRANGEBYLEX', WAITERS, from, '(' .. name .. '}', 'LIMIT', at, 10)
    for _, entry in ipairs(entries) do
      local ticket, session, least, most = string.match(entry, '^[^|]*|%d+|([^|]*)|([^|]*)|(%d+)|(%d+)$')
      if ticket and hasLease(session) then
        return {entry = entry, ticket = ticket, session = session, least = least, most = most}
      end
    end
    if #entries < 10 then
      return nil, at + #entries > 0
    end
    at = at + #entries
  end
end

local function addressOf(ticket)
  return string.match(ticket, '^([^.]*)')
end

-- Gives a lock to the first that waits for it, if it is free, and tells it. Says when to ask again if it is not free yet.
local function grantNext(name, record)
  local waiter = firstWaiter(name)
  if not waiter or isInClaimPeriod() then
    return
  end
  local at = freeAt(record)
  if at == 0 then
    forgetTicket(waiter.ticket)
    -- The ticket may be unknown, or have asked again and wait with another entry.
    redis.call('ZREM', WAITERS, waiter.entry)
    local token = grant(name, waiter.session, waiter.ticket, waiter.least, waiter.most)
    tell(addressOf(waiter.ticket), table.concat({'lock', name, waiter.ticket, token, waiter.session}, '|'))
  elseif at > 0 then
    tell(addressOf(waiter.ticket), table.concat({'lockfree', name, waiter.ticket, text(at - nowMillis)}, '|'))
  end
end

-- Frees a lock, but not before its holder's least time has passed. Returns what is left of its record.
local function free(name, record)
  if record.notBefore > nowMillis then
    redis.call('HSET', LOCKS, name, table.concat({'', '', record.token, text(nowMillis), text(record.notBefore), '0'}, '|'))
    return {session = '', ticket = '', token = record.token, notBefore = record.notBefore, freeAt = 0}
  end
  redis.call('HDEL', LOCKS, name)
  return nil
end

-- Frees the locks of sessions that the group does not know any more, and forgets those that wait in them.
-- O(locks + waiters)
local function freeLocksOfGoneMembers()
  local tickets = redis.call('HGETALL', TICKETS)
  for i = 1, #tickets, 2 do
    local session = string.match(tickets[i + 1], '^[^|]*|%d+|[^|]*|([^|]*)|')
    if session and not isMember(session) then
      forgetTicket(tickets[i])
    end
  end
  -- Those whose ticket is lost.
  for _, entry in ipairs(redis.call('ZRANGE', WAITERS, 0, -1)) do
    local session = string.match(entry, '^[^|]*|%d+|[^|]*|([^|]*)|')
    if not session or not isMember(session) then
      redis.call('ZREM', WAITERS, entry)
    end
  end
  for _, name in ipairs(redis.call('HKEYS', LOCKS)) do
    local record = lock(name)
    if record.unreadable then
      -- The next one to ask for it is told.
    elseif record.session ~= '' and not isMember(record.session) then
      -- Before anything is written, in case the right to it is missing: then all of it is tried again.
      firstWaiter(name)
      grantNext(name, free(name, record))
    elseif record.session == '' and record.notBefore <= nowMillis then
      redis.call('HDEL', LOCKS, name)
      grantNext(name, nil)
    end
  end
end
