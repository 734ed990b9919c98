-- Makes a member the owner of shards that it holds, or held before its lease ended, and that Redis does not know, or no
-- longer knows. Repeatable.
--
-- ARGV     1 member, 2 HELD (its lease has not ended) or PRESENTED (it has ended, so the member consumes nothing before
--          the claim period ends), then per shard: shard, token under which the member holds it
-- result   per shard GRANTED: the member owns it now under that token; SUPERSEDED: Redis has lost that the member had
--          it, and another member got it since; or REFUSED
-- keeps    a newer token is never replaced; a presented shard is not taken from an owner after the claim period; an
--          owner that is displaced is notified; the next token exceeds every granted one; a claim of an unknown shard
--          shows lost writes, so the claim period is opened before anything is assigned, and a presented shard extends
--          it
-- cost     O(shards given * log shards); the caller sends at most some dozens at once

writeBeforeWait(GROUP)

local id, isHeld, replies = ARGV[1], ARGV[2] == 'HELD', {}
local self, history = state == 'WHOLE' and member(id), groupNumber('history')

-- before: as returned by shard(). Returns whether no member has, or had, the shard under a newer token.
local function isGranted(before, token)
  if not before then
    return true
  end
  local known = tonumber(before.token)
  if before.phase == 'COMPLETED' or known > token then
    return false
  end
  local owner = before.owner ~= '' and before.owner or nil
  if known < token then
    if isHeld or owner == id or claimsUntil() > 0 then
      return true
    end
    -- Another member may have presented it in time, and consumed it since.
    return not (owner and member(owner)) and (known > history or before.since * 1000 < history)
  end
  if owner then
    -- Only an earlier session of this member had the token. Not granted while that session is being ended.
    return not member(owner) and (isHeld or token < history)
  end
  -- An earlier session has presented it and ended; the shard rests only for the claim period.
  return not isHeld and token < history and before.restEnd <= claimsUntil()
end

local function grant(name, before, token)
  raiseToken(token)
  if claimsEnd() <= nowMillis or not isHeld then
    openClaims(self.lease)
  end
  local generation = write(name, before, 'OWNED', token, id, '')
  local displaced = before and before.owner or ''
  if displaced ~= '' and displaced ~= id and member(displaced) then
    -- It may still consume, and is told only of shards among its concerns.
    putConcern(displaced, generation, name)
    notify(displaced)
  end
  notify(leader())
end

local function claim(name, token)
  local before = shard(name)
  if before and before.owner == id and before.token == token then
    return 'GRANTED'
  end
  if isGranted(before, tonumber(token)) then
    grant(name, before, token)
    return 'GRANTED'
  end
  local known = tonumber(before.token)
  if known < tonumber(token) and before.phase ~= 'COMPLETED' or tonumber(token) < history and history < known then
    return 'SUPERSEDED'
  end
  return 'REFUSED'
end

for i = 3, #ARGV, 2 do
  replies[#replies + 1] = self and claim(ARGV[i], ARGV[i + 1]) or 'REFUSED'
end
if self then
  finish()
end
return replies
