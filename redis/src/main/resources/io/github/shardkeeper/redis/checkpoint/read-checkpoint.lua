-- Reads a checkpoint and writes nothing. Of a large state it reads the first page; read-state-page.lua reads the rest.
--
-- ARGV     1 'whole' to read all of the state at once; then the cursor is '0'
-- result   {fence or '0', number of the last commit, offset or '', ahead or '', millis until the first retry is due or
--          '', number of the state's entries, cursor, {key, value, …}, pending seek or '', number of the last seek that
--          was carried out or '', what was before the fence or ''}
-- cost     O(a page of the state), or O(entries of the state)

local tooLong = checkLengths()
if tooLong then
  return tooLong
end
local missing = missingEntries('state')
if missing then
  return missing
end
local read = readCheckpoint(true)
if ARGV[1] == 'whole' then
  read[7], read[8] = '0', redis.call('HGETALL', STATE)
end
return read
