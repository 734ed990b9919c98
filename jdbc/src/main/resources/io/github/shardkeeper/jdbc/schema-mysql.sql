create table if not exists shardkeeper_shard (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  token          bigint not null,
  commit_number  bigint not null,
  acquired_at    bigint not null,
  before_token   bigint not null,
  before_commit  bigint not null,
  offset_value   longtext,
  ahead          longtext,
  sought         bigint not null,
  seek_number    bigint,
  seek_after     longtext,
  seek_clears    smallint,
  completed      smallint not null,
  last_letter    bigint not null,
  committed_at   bigint not null,
  primary key (group_name, topic, shard_id)
) character set utf8mb4 collate utf8mb4_bin engine = InnoDB;

create table if not exists shardkeeper_state (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  key_hash       varchar(64) not null,
  entry_key      longtext not null,
  entry_value    longtext not null,
  primary key (group_name, topic, shard_id, key_hash)
) character set utf8mb4 collate utf8mb4_bin engine = InnoDB;

create table if not exists shardkeeper_timer (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  id_hash        varchar(64) not null,
  timer_key      longtext not null,
  timer_name     longtext not null,
  due_at         bigint not null,
  primary key (group_name, topic, shard_id, id_hash),
  unique (group_name, topic, shard_id, due_at, id_hash)
) character set utf8mb4 collate utf8mb4_bin engine = InnoDB;

create table if not exists shardkeeper_retry (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  offset_hash    varchar(64) not null,
  offset_value   longtext not null,
  due_at         bigint not null,
  record_size    bigint not null,
  about          longblob not null,
  payload        longblob not null,
  primary key (group_name, topic, shard_id, offset_hash)
) character set utf8mb4 collate utf8mb4_bin engine = InnoDB;

create table if not exists shardkeeper_dead_letter (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  letter_number  bigint not null,
  stored_at      bigint not null,
  offset_value   longtext not null,
  about          longblob not null,
  payload        longblob not null,
  primary key (group_name, topic, shard_id, letter_number)
) character set utf8mb4 collate utf8mb4_bin engine = InnoDB;

create table if not exists shardkeeper_topic (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  consumed_since bigint not null,
  primary key (group_name, topic)
) character set utf8mb4 collate utf8mb4_bin engine = InnoDB;

create table if not exists shardkeeper_outbox (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  place_token    bigint not null,
  place_number   bigint not null,
  target         varchar(310) not null,
  about          longblob not null,
  payload        longblob not null,
  primary key (group_name, topic, shard_id, place_token, place_number)
) character set utf8mb4 collate utf8mb4_bin engine = InnoDB;

create table if not exists shardkeeper_sequence (
  group_name     varchar(100) not null,
  topic          varchar(100) not null,
  shard_id       varchar(200) not null,
  target_hash    varchar(64) not null,
  target         varchar(310) not null,
  era            bigint not null,
  sent_number    bigint not null,
  place_token    bigint not null,
  place_number   bigint not null,
  primary key (group_name, topic, shard_id, target_hash)
) character set utf8mb4 collate utf8mb4_bin engine = InnoDB;
