-- Common beginning of the scripts that change double barriers, after cluster.lua.
--
-- KEYS     the last three of the script:
--          :barriers         hash  barrier -> phase|round|number of parties|view or 0|sessions that are missing, with
--                            commas|parties, with commas. The phase is E while parties enter (then the round is 0), R when
--                            all are in, B when one has gone without leaving. A party is session/ticket/state, which is I
--                            while it is in and L when it has left
--          :barrierEnds      hash  barrier|round -> 'over', or 'broken|' and the sessions that are missing
--          :barrierEndTimes  zset  barrier|round -> time of its end (millis)
--          A ticket is <address of the instance>.<number>. The number of a round is a token.
-- keeps    a round that all have entered ends when each of its parties has left or is gone; one that is gone without
--          having left is missing for ever. Ends are kept for an hour, at most 10000 of them, for those who have missed
--          the message.

local BARRIERS, BARRIER_ENDS, BARRIER_END_TIMES = KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS]

-- Returns the record of a barrier; nil for none. One that cannot be read, which only others can have written, has nothing
-- but its value as `unreadable`: nobody enters that barrier. O(parties)
local function barrier(name)
  local value = redis.call('HGET', BARRIERS, name)
  if not value then
    return nil
  end
  local phase, round, size, view, missing, list =
    string.match(value, '^([ERB])|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]*)$')
  if not phase then
    return {unreadable = beginning(value)}
  end
  local parties = {}
  for entry in string.gmatch(list, '[^,]+') do
    local session, ticket, state = string.match(entry, '^([^/]+)/([^/]+)/([IL])$')
    if not session then
      return {unreadable = beginning(value)}
    end
    parties[#parties + 1] = {session = session, ticket = ticket, state = state}
  end
  return {phase = phase, round = round, size = tonumber(size), view = view, missing = missing, parties = parties}
end

-- Returns the party of a session, and its index; nil for none.
local function partyOf(record, session)
  for i, party in ipairs(record.parties) do
    if party.session == session then
      return party, i
    end
  end
end

-- A session counts its tickets.
local function ticketNumber(ticket)
  return tonumber(string.match(ticket, '%.(%d+)$') or '0')
end

local function leftCount(record)
  local left = 0
  for _, party in ipairs(record.parties) do
    if party.state == 'L' then
      left = left + 1
    end
  end
  return left
end

local function tellBarrier(name, record, what)
  tellAll(table.concat({'barrier', name, record.round, what}, '|'))
end

local function forgetEnd(entry)
  redis.call('ZREM', BARRIER_END_TIMES, entry)
  redis.call('HDEL', BARRIER_ENDS, entry)
end

local function keepEnd(name, record)
  local entry = name .. '|' .. record.round
  redis.call('HSET', BARRIER_ENDS, entry, record.phase == 'B' and 'broken|' .. record.missing or 'over')
  redis.call('ZADD', BARRIER_END_TIMES, nowMillis, entry)
  -- Two for one, so that there are soon none that are too old.
  local tooMany = redis.call('ZCARD', BARRIER_END_TIMES) > 10000
  local oldest = redis.call('ZRANGE', BARRIER_END_TIMES, 0, 1, 'WITHSCORES')
  for i = 1, #oldest, 2 do
    if tooMany or tonumber(oldest[i + 1]) <= nowMillis - 3600000 then
      forgetEnd(oldest[i])
    end
  end
end

-- Keeps a record, or ends its round if nobody is in it any more. O(parties)
local function saveBarrier(name, record)
  if leftCount(record) == #record.parties then
    redis.call('HDEL', BARRIERS, name)
    if record.phase ~= 'E' then
      keepEnd(name, record)
      tellBarrier(name, record, 'over')
    end
    return
  end
  local parties = {}
  for i, party in ipairs(record.parties) do
    parties[i] = table.concat({party.session, party.ticket, party.state}, '/')
  end
  redis.call('HSET', BARRIERS, name, table.concat({record.phase, record.round, record.size, record.view, record.missing,
    table.concat(parties, ',')}, '|'))
end

-- Takes a party that has not left out of a record, which breaks a round that all have entered.
local function removeParty(record, index)
  local party = table.remove(record.parties, index)
  if record.phase ~= 'E' then
    record.phase = 'B'
    record.missing = record.missing .. (record.missing == '' and '' or ',') .. party.session
  end
end

-- Takes a party out of a record and tells the others.
local function withdrawParty(name, record, index)
  removeParty(record, index)
  saveBarrier(name, record)
  if record.phase == 'B' then
    tellBarrier(name, record, 'broken')
  end
end

-- Takes those out of a record that the group does not know any more. Returns whether there were any. O(parties)
local function removeGoneParties(record)
  local before = #record.parties
  for i = before, 1, -1 do
    if record.parties[i].state == 'I' and not isMember(record.parties[i].session) then
      removeParty(record, i)
    end
  end
  return #record.parties < before
end

local function endForNewView(name, record)
  redis.call('HDEL', BARRIERS, name)
  tellBarrier(name, record, 'view')
end

-- Removes the parties of sessions that the group does not know any more, and ends rounds that wait for the members of
-- another view. O(parties of all barriers)
local function freeBarriersOfGoneMembers(view)
  for _, name in ipairs(redis.call('HKEYS', BARRIERS)) do
    local record = barrier(name)
    if record.unreadable then
      -- The next one to enter is told.
    elseif record.phase == 'E' and record.view ~= '0' and record.view ~= view then
      endForNewView(name, record)
    elseif removeGoneParties(record) then
      saveBarrier(name, record)
      if record.phase == 'B' then
        tellBarrier(name, record, 'broken')
      end
    end
  end
end
