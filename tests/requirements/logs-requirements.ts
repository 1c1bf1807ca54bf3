import { chosenSection, specifiedSection } from './requirement.ts';

/** Log, system information, presence, updates and the doctor. */
export const logs = [
  specifiedSection('interface 1, section 4.1', {
    'logs/tail': '`logs.tail` gives the most recent lines, as text or with `json` as objects, with `count` and `path`.',
    'logs/levels': '`system.logs` gives the most recent lines of a level.',
    'system/info': '`system.info` tells platform, Python and uptime.',
    'system/presence': '`system.presence` tells of each part whether it is there, and since when.',
    'web/status': '`web.status` tells whether a tab of the app is attached, and for how long.',
    'update/check': '`update.check` tells the current version and whether there is a newer one.',
    'doctor/checks': '`doctor.run` finds what is wrong and sums it up.',
  }),
  chosenSection('decisions, "Devices, logs, system, usage, speech"', {
    'logs/limits': '`logs.tail` gives 200 lines unless asked for up to 2,000, `system.logs` 50 unless asked for up to 500.',
    'logs/cursor': 'Reading on from a cursor leaves no line out and repeats none, while lines are written by several at a time.',
    'logs/before':
      'Reading back from `before` gives each older line once, of gateway and bridge, while others are written; fewer than `limit` lines are the last there are.',
    'logs/local-time': 'With `localTime` times are those of the configured zone, with its offset.',
    'logs/path': '`path` is a file of the bridge, which has its lines; empty without a bridge.',
    'logs/redacted': 'Secrets never appear in the log: neither configured ones nor what looks like one.',
    'logs/ring': 'The newest 10,000 lines are kept, on this copy alone.',
    'logs/grouped': 'Lines that come within 50 ms are stored in one transaction.',
    'logs/level': 'Lines below `gateway.logLevel` are not kept.',
    'logs/harmless': 'A log that cannot be stored hinders nothing, and is read from memory.',
    'logs/notes': 'Starts, roles, refused and limited connections, failed runs, providers, settings (by name) and faults are noted.',
    'logs/bridge': 'The bridge’s own lines are among the log’s, by time.',
    'system/info-host': '`system.info` adds Node, browser, version and the kind of host; Python and Node are null without a bridge.',
    'system/python': 'Python is asked for without a shell, and once.',
    'connect/presence': 'The snapshot of `connect` tells who is there.',
    'update/never-fails': 'Without bridge, network or package `update.check` says so in `error` and fails not.',
    'doctor/programs': 'The doctor says whom commands run as, with a warning where that is root, and how it stands with each tool server.',
    'doctor/hints': 'Each failing check has a hint that names a command, page, method or setting that there is.',
    'doctor/bounded': 'A check that fails or hangs is told as such, and fails no other.',
    'doctor/cli': '`perch doctor` prints the same, and ends with 1 where there is a fault.',
  }),
];
