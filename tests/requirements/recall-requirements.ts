import { chosenSection, specifiedSection } from './requirement.ts';

/** Recalling memories before a reply. */
export const recall = [
  specifiedSection('interface 2, section 2.4', {
    'recall.config/fields':
      '`ActiveRecallConfig` has the fields and samples of the document, in either spelling; what does not fit is named.',
  }),
  specifiedSection('interface 2, section 2.5', {
    'recall/result':
      '`ActiveRecallResult` has a status, its time, a summary and `searchDebug`; the four properties follow from the status.',
    'recall/modes': '`MESSAGE` asks with the latest message alone, `RECENT` with the latest turns too, `FULL` with the whole conversation.',
    'recall/styles': 'The six prompt styles tell different things of the same memory, in different numbers and orders.',
  }),
  specifiedSection('interface 2, section 4.5', {
    'recall/context-message': '`buildContextMessage` gives a message where there is something to tell, and none else.',
  }),
  specifiedSection('interface 2, section 4.1', {
    'cli.active-memory/row':
      '`active-memory on`, `off` and `status` switch active recall in a session, `main/main` where none is named, and tell of it.',
  }),
  chosenSection('decisions, "Memory, recall, wiki and dreaming"', {
    'recall/statuses':
      'Nothing that bears on the message is `empty`, no memory or one that fails is `unavailable`, no answer in 15 s is `timeout`.',
    'recall/cache': 'Only `ok` is kept, for `cacheTtlMs`, by session and what was asked, and not beyond the life of the memories.',
    'recall/breaker': 'After three time-outs in a row memory is left alone for 60 s.',
    'recall/untrusted': 'What was recalled is marked as data: no memory can end its block or write a line outside of it.',
  }),
  chosenSection('issue "Memory, active recall, wiki and dreaming"', {
    'recall/abort': 'An abort ends a recall at once and counts as no time-out.',
    'recall/keeps-up': 'What is remembered, changed and forgotten is recalled so from then on.',
    'recall/unchanged': 'A memory that has not changed is not gone through again for each recall, however long it is.',
    'recall/restart': 'The index of many memories lasts over a restart; what was removed is not in it.',
    'recall/slices': 'Others have their turn while the first recall goes through a long memory.',
    'recall/full-too-long': 'A conversation too long for `FULL` is asked for as `RECENT`, and `fallback` says so.',
    'recall/limits': 'Whatever memory has: the summary keeps to `maxSummaryChars`, a memory a line, each with its source and reasons.',
    'recall/summarize': 'A model may write the summary; where it fails, the memories are told as they are.',
    'recall/bad-input': 'What is no text is named; a search that answers nonsense does no harm.',
    'recall.run/told': 'An agent with memory is told of what bears on a message in front of it; what is stored has none of that.',
    'recall.run/shown': 'The reply says what was recalled for it, why and from where, and readers are told before its first word.',
    'recall.run/who': 'Nothing is recalled for channels, stateless runs over HTTP, agents without memory, or the guide.',
    'recall.run/switch':
      'A session has a switch of its own, kept with it; the settings have one for all; `sessions.recall` says how it stands and why.',
    'recall.run/never-fails': 'A run goes on where memory cannot be read, and an abort ends it while memory is searched.',
    'recall.run/settings': '`memory.recall` in the configuration sets the fields, at once; a switch that cannot be read is off.',
  }),
];
