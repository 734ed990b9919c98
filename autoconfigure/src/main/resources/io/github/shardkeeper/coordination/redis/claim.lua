-- A member takes possession of what it holds and Redis does not know (any longer). Repeatable.
--
-- ARGV     1 member, then per shard: shard, token under which the member holds it
-- result   the shards that the member owns now under those tokens; none for an unknown member
-- keeps    a newer token is never taken from anybody; an owner that has to give way is told; the next token exceeds
--          every claimed one; who claims what is not known tells of writes that are lost, so others may claim as well
--          before anything is handed out
-- cost     O(shards given * log shards); the caller sends at most some dozens at once

writeBeforeWait(GROUP)

local id, granted = ARGV[1], {}
local self = state == 'WHOLE' and member(id)
if not self then
  return granted
end
for i = 2, #ARGV, 2 do
  local name, token = ARGV[i], ARGV[i + 1]
  local before = shard(name)
  if before and before.owner == id and before.token == token then
    granted[#granted + 1] = name
  elseif not before or before.phase ~= 'COMPLETED' and tonumber(before.token) < tonumber(token) then
    raiseToken(token)
    if claimsUntil() == 0 then
      openClaims(self.lease)
    end
    local generation = write(name, before, 'OWNED', token, id, '')
    local displaced = before and before.owner or ''
    if displaced ~= '' and displaced ~= id and member(displaced) then
      -- It may still consume, and only what concerns it is told to it.
      putConcern(displaced, generation, name)
      notify(displaced)
    end
    notify(leader())
    granted[#granted + 1] = name
  end
end
finish()
return granted
