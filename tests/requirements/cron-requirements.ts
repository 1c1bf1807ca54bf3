import { chosenSection, specifiedSection } from './requirement.ts';

/** Scheduled jobs, system events, the heartbeat. */
export const cron = [
  specifiedSection('interface 1, sections 3 and 4.1', {
    'cron/methods':
      '`cron.list`, `cron.add`, `cron.toggle`, `cron.remove`, `cron.history` list, add, switch and remove jobs, and tell of their runs.',
    'system.event/tells': '`system.event` answers `{ok, eventType, mode}` and reaches the main session.',
    'system.heartbeat.last/answers': '`system.heartbeat.last` answers `{enabled, lastHeartbeatAt}`.',
  }),
  specifiedSection('interface 1, section 4.2', {
    'cron/earlier-shapes': 'At protocol 2 `cron.list` is an array of `{id, cron, …}` and `cron.add` is `{id}`.',
  }),
  chosenSection('decisions, "Cron, tools, exec, plans"', {
    'cron/schedule':
      'A schedule is an expression with a time zone, an interval of a minute or more, or one time; what is none is INVALID_PARAMS with a sentence.',
    'cron/ticks': 'A tick runs once, by wall time, in the main session or in one of its own, and is recorded.',
    'cron/clock-changes':
      'Where the clocks change, a job with plain minutes and hours runs exactly once a day; one with `*` or a step in them follows the clock.',
    'cron/missed':
      'Ticks missed while no host ran are recorded skipped, in one record with the reason, or run once on return with `catchUp`.',
    'cron/clock-jump':
      'A clock that jumps repeats no tick that has run, loses none that is to come, and leaves what it leapt over as missed.',
    'cron/one-executor': 'One host at a time runs ticks, under a lease where there is a journal; no tick runs twice.',
    'cron/crash': 'A host that dies leaves no run `running`: one that had begun is ended, one that had not is due as before.',
    'cron/overlap': 'A tick that comes while the run before is under way is skipped, and recorded.',
    'cron/pause': 'After failures a recurring job rests for 30 s, 1, 5, 15, 60 min, until a success; `nextRunAt` shows it.',
    'cron/once': 'A job for one time runs once, and stays, disabled, with its history.',
    'cron/time-out': 'A run is ended after 10 minutes, with status `timeout`.',
    'cron/history': 'The newest 200 runs of a job are kept; `cron.history` gives 50 unless told otherwise.',
    'cron/deleted': 'Runs of a deleted job stay in `cron.history` for 30 days, with the job’s name.',
    'cron/run': '`cron.run` runs a job by hand, disabled or not; one that is under way is ALREADY_EXISTS.',
    'cron/gone': 'A run of an agent that is gone fails with that; a job that is removed takes no more ticks, and its run goes on.',
    'cron/page':
      'A page has all schedules with their next runs in words and by the clock, and their histories; they are made, changed, switched, run and removed there, and its link says how many have failed.',
    'cron/tools': 'An agent adds, lists and removes jobs of its own alone.',
  }),
  chosenSection('decisions, "Devices, logs, system, usage, speech"', {
    'system.event/waits':
      'An event with `next-heartbeat` joins the next run of the main session; a run that fails, or a crash, loses none.',
    'system.event/now': 'With `now` the main session answers at once.',
    'heartbeat/beats':
      'The heartbeat is off by default; at each beat the main session looks at what waits, without a model call where nothing does.',
  }),
] as const;
