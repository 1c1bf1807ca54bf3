import { chosenSection } from './requirement.ts';

/** One vault on all hosts: journal, merge, leases, backup (docs/decisions/0008, docs/decisions/0009). */
export const vault = [
  chosenSection('design, "One vault"', {
    'vault.sync/converges':
      'Whatever hosts write, apart or together, with the line cut and hosts crashing in between: after healing all replicas are equal and everything acknowledged is there',
    'vault.sync/fills': 'A new, evicted or wiped host fills itself from the journal',
    'vault.sync/journal-lost': 'A journal that is lost or put back from an older copy is filled again from the hosts',
    'vault.sync/read-only': 'A host older than the data reads only, and says why',
    'vault.sync/skew': 'Hosts whose clocks are a day apart converge, and a change made after another was seen wins over it',
    'vault.sync/acknowledged':
      'With a journal attached a write is acknowledged when it is committed here and there; without one, here, and counted as not yet on disk',
    'vault.sync/grouped': 'Writes that come together are committed together, in their order; one that fails does not hinder the others',
    'vault.sync/attachments': 'Attachments travel by content hash and are fetched when they are needed',
    'vault.sync/secrets': 'Secrets travel sealed, and every host of the vault can read them',
    'vault.merge/laws': 'Merging is commutative, associative and idempotent',
    'vault.merge/copies': 'Where two hosts changed one text or one branch apart, the loser is kept and can be put back',
    'vault.merge/deletes': 'A deletion travels; what another host added to a deleted chat meanwhile is kept',
    'vault.files/memories':
      'Of a long-term memory that two hosts changed apart every memory and paragraph is there, and the later of two preferences of one name',
    'vault.files/lines':
      'Of claims’ histories and dreaming’s files of lines that two hosts changed apart all lines are there once, in the order of their times, and readers understand them',
    'vault.files/either-way': 'Merging two versions of a file is the same either way round, and merging again changes nothing',
    'vault.files/merged': 'The host that serves merges such files by itself, once; dying in between leaves the old or the new',
    'vault.files/copies': 'Any other file that two hosts changed apart is put aside as a whole, is shown, and can be put back',
  }),
  chosenSection('design, "One vault": hosts and their ports', {
    'vault.hosts/auto': 'A tab serves once it has caught up, for as long as it is there; else the managed Chromium, at once',
    'vault.hosts/outdated': 'A host older than the data never serves, and neither pulls nor pushes',
    'vault.hosts/flip': 'When another host begins to serve, new clients go there at once; old ones stay until their host lets them go',
    'vault.hosts/moves': 'A client is taken from one host to the next without hearing of it, once no call of its own is under way',
    'vault.hosts/head': 'A host answers a client once it has read everything that was acknowledged before the client came',
    'vault.port/changes': 'A change pushed by one host is told to the others at once, and not to itself',
    'vault.port/failures': 'What the journal cannot keep is refused in clear words, and kept once it can',
    'vault.port/presence': 'A host whose line breaks, or that a restarted bridge has not seen yet, is not taken for dead for some seconds',
    'vault.port/attachments': 'Attachments are put and got under the hash of their bytes, up to 20 MiB',
    'vault.backup/no-browser': '`perch backup export`, `list` and `restore` work with no browser at all, and while the gateway runs',
    'vault.backup/round-trip':
      'A backup restored into an empty journal brings back every record and attachment; restoring it again changes nothing',
    'vault.backup/keeps':
      'A restore keeps what was made since, or, where that is asked for, deletes it; either wins on every host without making copies',
    'vault.backup/all-or-nothing': 'A backup is checked as a whole before the first write: one that is damaged or hostile changes nothing',
    'vault.journal/reserve':
      'Space is set aside on the journal’s disk. When that is full it is used for what is about to be acknowledged, and hosts write nothing but deletions until there is space again.',
    'vault.backup/limit':
      'What a backup unpacks to is counted while it is unpacked, and stops at 256 MB, or at 100 times its size above 32 MB',
    'vault.backup/secrets': 'No key is in a backup in the clear; with a passphrase they are in it sealed, and open in another vault',
    'vault.backup/bounded': 'Writing a backup takes bounded memory, whatever the number of records',
    'vault.backup/file': 'A backup is a file of mode 0600 that is there as a whole or not at all, and replaces none unasked',
  }),
  chosenSection('design, "One vault": the journal on disk', {
    'vault.journal/merge': 'The last value of each record is kept, the same in whatever order and however often versions arrive',
    'vault.journal/pull': 'Pulling goes on from any place, in batches, leaves out what the caller pushed itself, and misses nothing',
    'vault.journal/snapshot': 'All records can be read as they are at one moment, whatever is written meanwhile',
    'vault.journal/durable': 'What was acknowledged is on disk, also when the bridge is killed',
    'vault.journal/grouped': 'Pushes that come together are committed together; one that fails does not hinder the others',
    'vault.journal/private': 'The journal and the vault’s key are files of mode 0600, and the key is not in the journal',
    'vault.journal/tampered': 'A record that was tampered with is never delivered; hosts push it again, and the person is told',
    'vault.journal/damaged': 'A damaged, truncated or deleted journal is replaced with what can be read of it, and says so',
    'vault.journal/older-copy': 'An older copy that was put back is told from the journal, so that hosts fill it again',
    'vault.journal/full': 'A full disk is a clear error, nothing is stored halfway, and pushing works once there is room',
    'vault.journal/leases': 'A lease has one holder; fencing numbers only grow',
    'vault.journal/retention': 'Deletions are remembered for 90 days; a replica that was away for longer is told so',
    'vault.journal/schema': 'The newest schema of those who wrote is kept; reading does not raise it',
    'vault.journal/processes': 'Two processes write the same journal, and each hears of the other',
    'vault.journal/thread': 'A thread that dies fails what it was asked, and is started again',
  }),
  chosenSection('design, "One vault"', {
    'vault.sync/follows': 'What a gateway has in memory, and its clients, keep up with what other hosts change',
    'vault.hand-over/connections':
      'A host that serves no longer lets go of its clients once nothing of theirs is under way, and keeps the pages on its own ports',
    'vault.runs/waits': 'A session in which another host executes a run waits for its end; other sessions do not',
    'vault.runs/recovers': 'A run whose host is gone is ended by one other host alone, under a fence that was given out for it',
    'vault.runs/steps':
      'The steps of a run under way are in the journal, up to 64 KB, with the outside sources of the run: another host that ends it has both.',
    'vault.runs/text':
      'The text of a run reaches the journal at most once a second; the host that ends an interrupted run keeps it as one version',
    'vault.runs/abort': 'A run can be aborted from the host that serves, whichever executes it',
    'vault.runs/passed-on': 'The clients of the host that serves follow the runs that other hosts execute',
    'sync.status/state': '`sync.status` answers how the host stands with the journal, what is on disk, and who is attached',
    'sync.changed/tells': '`sync.changed` tells of each change of the state, together where many come at once',
    'sync.conflicts/lists': '`sync.conflicts` answers in words what was put aside, newest first',
    'sync.conflicts/secrets': 'No secret is shown in a conflict',
    'sync.resolve/resolves': '`sync.resolve` forgets a version that was put aside, or puts it back',
  }),
  chosenSection('design, "One vault": the app', {
    'vault.app/moves':
      'A page talks to its own worker where that serves or no bridge is there, else to the bridge, and moves between them without cutting a call, at most every 2 s',
    'vault.app/told': 'The app says in words how safe the data is, and what it means that a browser is older than its data',
    'vault.app/refused': 'A change refused because this browser only reads, or has no room, says so, and where more is said',
  }),
  chosenSection('design, "One vault": real browsers', {
    'vault.hand-over/both-ways':
      'A session made with no tab open appears in the tab, and one made in the tab is there when it is closed, at once',
    'vault.hand-over/runs-go-on': 'A run goes on where it is while another host takes over, and its caller gets its answer',
    'vault.hand-over/keys': 'A provider’s key given at one host serves the others, and is nowhere in the journal in the clear',
    'vault.hand-over/headless': 'With `--host headless` a tab is a warm copy that answers when the bridge is stopped',
    'vault.heal/worker-killed': 'A page starts its worker again, whenever that was killed',
    'vault.heal/bridge-stopped': 'Browsers go on alone while the bridge is stopped, and converge when it is back',
  }),
  chosenSection('issue "Beyond one machine", part 1', {
    'vault.cluster/sealed':
      'Whoever runs the cluster finds no text, name or key of the vault in it, and what was changed there is never taken for a record',
    'vault.cluster/phrase':
      'The vault’s key is shown as words with a checksum, and taken from them on another machine that has no vault of its own',
    'vault.cluster/converges':
      'Whatever hosts of several bridges write, apart or together, with bridges and the server going and coming: after healing the bridges’ journals are equal and everything acknowledged is there',
    'vault.cluster/replicas': 'Where the cluster has three servers each record lies on all of them, and losing one of them stops nothing',
    'vault.cluster/attachments': 'Attachments and records too large for a message reach the other bridges too',
    'vault.cluster/clean':
      'Attachments that no record refers to are taken out of the cluster after a while, and none that a machine which was away still refers to is lost',
    'vault.cluster/faults':
      'With no server, wrong credentials or a deleted stream the bridge goes on by itself, says what is wrong, and what waited goes out once it can',
    'vault.cluster/leases': 'One host of all bridges has a lease; one whose bridge cannot reach the cluster is given none',
    'vault.cluster/permissions':
      'What a vault’s user must be let do in the cluster is printed, nothing more; with it all works, and another vault’s user reads and hears nothing',
    'vault.cluster/doctor':
      'The doctor says of the cluster whether it is reached and lets the bridge in, how many copies are current, what is not shared yet, how much room there is, how far the clocks differ and whether the user may do too much',
    'vault.cluster/setting':
      'Where the cluster is and how to get in is told by a command, kept for the owner alone, and secrets in it may be references',
    'vault.cluster/browser-key':
      'A browser shares the vault with keys that no script can read out; it and the bridges find each other’s records and open them',
    'vault.cluster/browser-converges':
      'Whatever browsers without a bridge and bridges write, with the server going and coming: after healing all are equal and everything acknowledged is there',
    'vault.cluster/browser-sealed': 'What a browser sends to the cluster has no text, name or key of the vault in it',
    'vault.cluster/browser-faults':
      'With no server, wrong credentials, a deleted stream, or one that an operator has changed, a browser goes on by itself, says what is wrong, and what waited goes out once it can',
    'vault.cluster/browser-leases': 'Of browsers without a bridge and hosts of bridges one has a lease, and who has gone loses it',
    'vault.cluster/browser-over': 'A browser goes from its bridge to the cluster and back without losing or doubling anything',
    'vault.cluster/known-to-be-shared': 'A host knows from its opening whether other machines have its vault too',
    'vault.cluster/browser-joins':
      'A browser without a bridge makes a vault or joins one by its words, shows how it stands, and leaves with everything kept',
  }),
] as const;
