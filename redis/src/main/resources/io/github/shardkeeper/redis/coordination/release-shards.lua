-- Releases shards of an owner: each goes to the target of its move, or rests, or becomes free. A shard that is not being
-- moved, of a member that leaves for a restart, is kept for its instance. Repeatable.
--
-- ARGV     1 owner, 2 quiet period (millis), then per shard: shard, token, token that the next one must exceed too
--          ('0' normally), completed ('1' or '0')
-- result   per shard RELEASED, or STALE if the member does not own it under that token
-- keeps    a token ends with its release; a completed shard never gets an owner again
-- cost     O(shards given * log shards); the caller sends at most some dozens at once

writeBeforeWait(GROUP)

local id, quietMillis, reply = ARGV[1], tonumber(ARGV[2]), {}
local self = state == 'WHOLE' and member(id)
local restarts = self and self.flag == 'R'
for i = 3, #ARGV, 4 do
  local name, token, floor, completed = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3] == '1'
  local before = state == 'WHOLE' and shard(name)
  if before and before.owner == id and before.token == token then
    raiseToken(floor)
    if completed then
      write(name, before, 'COMPLETED', token, '', '')
      notify(leader())
    elseif restarts and before.phase == 'OWNED' then
      keep(name, before, quietMillis)
    else
      takeFrom(name, before, quietMillis)
    end
    reply[#reply + 1] = 'RELEASED'
  else
    reply[#reply + 1] = 'STALE'
  end
end
if state == 'WHOLE' then
  finish()
end
return reply
