-- The whole database on one page. Times are ISO 8601 in UTC with microseconds, so they sort as text.
-- A column marked "content" may hold what a memory says; a test refuses content anywhere else, and forgetting erases exactly these.

create table meta (
    name  text primary key,
    value text not null
) strict;

create table revision (
    seq              integer primary key,   -- ascending, so erased pages leave no fragments behind
    tenant           text not null,
    scope            text not null,
    key              text not null,
    revision         integer not null check (revision > 0),
    op               text not null check (op in ('ADD', 'UPDATE', 'DELETE')),
    content          text check (op <> 'DELETE' or content is null),   -- content
    kind             text not null,
    trust            text not null check (trust in ('STATED', 'VERIFIED', 'INFERRED')),
    confidence       real not null check (confidence between 0 and 1),
    source_type      text not null,
    actor            text not null,
    created_at       text not null,
    recorded_at      text not null,
    last_verified_at text,
    valid_from       text,
    valid_to         text,
    review_at        text,
    expires_at       text,
    support          text not null check (support in ('all', 'any')),
    task             text,                  -- content (of an experience)
    verification     text,                  -- content (of an experience)
    check (op <> 'DELETE' or coalesce(task, verification) is null),
    unique (tenant, scope, key, revision)   -- the compare-and-swap
) strict;

create table proposal (
    id          integer primary key,
    tenant      text not null,
    number      integer not null,           -- what callers see: it counts within the tenant, so nobody can count another's
    scope       text not null,
    key         text not null,
    content     text,                       -- content
    kind        text not null,
    trust       text not null,
    confidence  real not null check (confidence between 0 and 1),
    source_type text not null,
    flags       text not null,
    expected    integer not null,
    status      text not null check (status in ('PENDING', 'ADMITTED', 'REJECTED', 'EXPIRED')),
    reason      text not null,
    created_at  text not null,
    valid_from  text,
    valid_to    text,
    review_at   text,
    expires_at  text,
    support     text not null,
    task         text,                      -- content
    verification text,                      -- content
    unique (tenant, number)
) strict;
create index proposal_waiting on proposal (tenant, scope, status, key);

create table shadow (                       -- which distinct questions a waiting proposal would have answered, as keyed digests
    id          integer primary key,
    tenant      text not null,
    proposal_id integer not null references proposal,
    digest      text not null,
    at          text not null,
    unique (proposal_id, digest)
) strict;

create table state (                        -- where a task stands, by exact name; overwritten, never indexed
    id      integer primary key,
    tenant  text not null,
    scope   text not null,
    name    text not null,
    value   text not null,                  -- content
    phase   text not null check (phase in ('PLANNED', 'DONE')),
    awaited text not null,                  -- content (citations that would prove it)
    at      text not null,
    unique (tenant, scope, name)
) strict;

create table evidence (                     -- what a revision, a proposal or a done state rests on
    id             integer primary key,
    tenant         text not null,
    revision_seq   integer references revision,
    proposal_id    integer references proposal,
    state_id       integer references state,
    source         text not null,
    locator        text not null,           -- content (an exact quote)
    digest         text not null,
    quote          text not null,           -- content
    source_version text not null,
    observed_at    text not null,
    check ((revision_seq is not null) + (proposal_id is not null) + (state_id is not null) = 1)
) strict;
create index evidence_of_revision on evidence (revision_seq);
create index evidence_of_proposal on evidence (proposal_id);
create index evidence_of_state on evidence (state_id);
create index evidence_of_source on evidence (tenant, source);

create table tombstone (                    -- keyed digests of forgotten values, never the values
    id     integer primary key,
    tenant text not null,
    scope  text not null,
    key    text not null,
    digest text not null,
    at     text not null,
    unique (tenant, digest, scope, key)
) strict;

create table event (                        -- the audit: append-only envelopes without content
    id       integer primary key,
    tenant   text not null,
    seq      integer not null,              -- counts within the tenant
    at       text not null,
    user     text not null,
    actor    text not null,
    op       text not null,
    scope    text not null,
    key      text not null,
    revision integer not null,
    reason   text not null,
    detail   text not null,
    unique (tenant, seq)
) strict;
create trigger event_is_not_rewritten before update on event begin select raise(abort, 'events are append-only'); end;
create trigger event_is_not_removed before delete on event begin select raise(abort, 'events are append-only'); end;

create table episode (                      -- what happened in a session, in order; only forgetting may take words out of it
    id      integer primary key,
    tenant  text not null,
    session text not null,
    number  integer not null,               -- counts within the session of a tenant
    scope   text not null,
    role    text not null check (role in ('user', 'assistant', 'tool', 'system')),
    text    text,                           -- content
    visible integer not null check (visible in (0, 1)),
    trusted integer not null check (trusted in (0, 1)),
    at      text not null,
    unique (tenant, session, number)
) strict;
create trigger episode_is_not_rewritten before update on episode
when (new.id, new.tenant, new.session, new.number, new.scope, new.role, new.visible, new.trusted, new.at)
    is not (old.id, old.tenant, old.session, old.number, old.scope, old.role, old.visible, old.trusted, old.at)
    or old.text is null or instr(new.text, '[forgotten]') = 0
    or length(replace(new.text, '[forgotten]', '')) >= length(replace(old.text, '[forgotten]', ''))
begin select raise(abort, 'episodes are not rewritten: forgetting may mask or erase their text, and nothing else'); end;
create trigger episode_is_not_removed before delete on episode begin select raise(abort, 'episodes are not removed'); end;

create table extraction (                   -- how far a session was read, in one scope
    tenant  text not null,
    session text not null,
    scope   text not null,
    done    integer not null,               -- number of the last episode that was read
    wanted  integer not null,               -- somebody asked while it ran: one more run is due
    low     integer not null,               -- the context was nearly full already, and was flushed for that
    primary key (tenant, session, scope)
) strict;

create table lease (                        -- who may do a job now; the token never goes down, so a row is never removed
    tenant     text not null,
    name       text not null,
    holder     text not null,
    token      integer not null check (token > 0),
    expires_at text,
    failures   integer not null,
    not_before text,
    primary key (tenant, name)
) strict;
create trigger lease_token_never_falls before update on lease when new.token < old.token begin select raise(abort, 'a token never falls'); end;
create trigger lease_is_not_removed before delete on lease begin select raise(abort, 'a lease is released, not removed'); end;

create table run (                          -- what each consolidation saw, changed and wrote, in numbers
    id            integer primary key,
    tenant        text not null,
    scopes        text not null,
    at            text not null,
    input_version text not null,
    seen          integer not null,
    lost          integer not null,
    written       integer not null
) strict;
create index run_of_tenant on run (tenant, at);

create table assembly (                     -- the audit of contexts: what was shown, by revision and keyed digest, never its content
    id              integer primary key,
    tenant          text not null,
    number          integer not null,       -- counts within the tenant
    at              text not null,
    user            text not null,
    form            text not null,
    layout          integer not null,
    fingerprint     text not null,
    snapshot_digest text not null,
    memory_digest   text not null,
    unique (tenant, number)
) strict;
create table injected (
    assembly_id integer not null references assembly,
    n           integer not null,
    layer       text not null check (layer in ('snapshot', 'memory')),
    scope       text not null,
    key         text not null,
    revision    integer not null,
    verdict     text not null,
    disputed    integer not null check (disputed in (0, 1)),
    primary key (assembly_id, n)
) strict;
create trigger assembly_is_not_rewritten before update on assembly begin select raise(abort, 'the audit is append-only'); end;
create trigger assembly_is_not_removed before delete on assembly begin select raise(abort, 'the audit is append-only'); end;
create trigger injected_is_not_rewritten before update on injected begin select raise(abort, 'the audit is append-only'); end;
create trigger injected_is_not_removed before delete on injected begin select raise(abort, 'the audit is append-only'); end;

create table use (                          -- what became of a memory once it was shown: counts, never content
    id           integer primary key,
    tenant       text not null,
    scope        text not null,
    memory       text not null,             -- its id
    uses         integer not null,
    last_used    text,
    confirmed    integer not null,
    contradicted integer not null,
    flagged      integer not null,          -- the revision that was overturned; 0: none
    unique (tenant, memory)
) strict;
create index use_flagged on use (tenant, scope) where flagged > 0;

create view memory as                       -- the current value: the newest revision of each key, unless it retired the key
select r.* from revision r
where r.op <> 'DELETE' and not exists (
    select 1 from revision n where n.tenant = r.tenant and n.scope = r.scope and n.key = r.key and n.revision > r.revision
);
