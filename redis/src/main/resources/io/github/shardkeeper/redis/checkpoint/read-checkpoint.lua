-- Reads a checkpoint without any right to write; of a large state only the first page, read-state-page.lua reads on.
--
-- ARGV     1 'whole' to read all of the state at once, in which case the cursor is '0'
-- result   {fence or '0', number of the last commit, offset or '', ahead or '', millis until the first retry is due or
--          '', entries of the state, cursor, {key, value, …}, pending seek or '', number of the seek that was carried out
--          last or '', what was before the fence or ''}
-- cost     O(a page of the state), or O(entries of the state)

local read = readCheckpoint()
if ARGV[1] == 'whole' then
  read[7], read[8] = '0', redis.call('HGETALL', STATE)
end
return read
