import { chosenSection, specifiedSection } from './requirement.ts';

/** How memory is consolidated. */
export const dreaming = [
  specifiedSection('interface document 2, sections 2.3, 2.5 and 4.7', {
    'dreaming.config/fields':
      "All settings are read in either spelling, from YAML too, with the documents' sample values; what does not fit is named.",
    'dreaming.signals/records':
      'Signals have a hash of their content; recalls and consolidations are counted; they are listed by age, and old ones removed.',
    'dreaming.phases/deep':
      'The deep phase reports what it promoted; `inline` appends to the long-term memory, `separate` to `DREAMS.md`, `both` to both.',
  }),
  chosenSection('decisions, "Memory, recall, wiki, dreaming"', {
    'dreaming.score/formulas': 'The six components are as decided, and the score is their mean by weights that are 1 together.',
    'dreaming.score/bounds': 'Components and scores stay within 0 and 1 and rise with each component.',
    'dreaming.score/filter': 'Candidates come by score, within all limits of the settings; untrusted ones never.',
    'dreaming.phases/order': 'Dreaming runs light, REM, deep, and only deep promotes.',
    'dreaming.promotion/source': 'Promotion reads its source again: what is gone, changed or quoted there is not promoted.',
    'dreaming.promotion/untrusted':
      'What tools returned, quotations and its own output are never promoted, also where somebody repeats them.',
    'dreaming.promotion/once':
      'Nothing is promoted twice, nor what the memory says already in nearly the same words; other figures and denials are something else.',
  }),
  chosenSection('issue "Memory, active recall, wiki and dreaming"', {
    'dreaming.signals/durable':
      'A crash at any write leaves the signals as they were or as they are to be; broken lines stay and are told; their number is bounded.',
    'dreaming.light/collects': 'The light phase collects notes and what users said, once, and what is said again on another day counts.',
    'dreaming.rem/narrative':
      'The REM phase tells what came up together; what a model wrote is marked, and a model that fails takes nothing away.',
    'dreaming.review/queue': 'Proposals wait for a person, who accepts, edits or rejects them; rejected ones do not come back.',
    'dreaming.crash/rerun': 'After a crash at any write a second run promotes everything that was to be promoted, exactly once.',
    'dreaming/searches': 'Searches of the library feed the signals where `DreamingConfig` enables dreaming.',
    'dreaming/app':
      'The page has what waits first, with keys and an undo, then signals, history and the schedule, legible at every width and in both themes.',
    'dreaming.app/limits':
      'Weights and limits are set on the page within their ranges, told where they are wrong, and put back to their defaults.',
    'dreaming.run/phases':
      'A run goes through light, REM and deep, tells of each as it begins, and is kept with what came of it and its narrative.',
    'dreaming.run/once': 'In one workspace one run is under way at the most, whichever agent asks.',
    'dreaming.run/yields': 'While it reads, others have their turn.',
    'dreaming.status/told': 'The status has the schedule in words, the next and the last run, and what waits.',
    'dreaming.signals/listed': 'Signals are listed by score with the six components and what they lack, filtered and in pages.',
    'dreaming.review/methods': 'Proposals are accepted (edited too), rejected and taken back by persons alone, each once.',
    'dreaming.narrative/model':
      "The agent's own model tells the dream where there is one, and its usage is booked; else it is told without.",
    'dreaming.recall/runs': 'What was recalled for replies, and what agents searched for, become signals.',
    'dreaming.recall/once': 'Each message with a recall counts once, also after a crash at any write; channels do not count.',
    'dreaming.files/broken': 'Broken lines in its files stay, are told, and stop nothing.',
    'dreaming.schedule/job':
      "The schedule is a job of the gateway's own, which follows the settings and the agents, and cannot be changed as others can.",
    'dreaming.schedule/ticks':
      'It dreams at its ticks, on return once for those that were missed, and again where a host died in it, promoting nothing twice.',
    'dreaming.settings/section':
      'The section is validated with the defaults of the documents; what does not fit leaves dreaming off and is told.',
    'dreaming.schedule/words': 'Schedules are told in words, and forms that can never come are refused.',
    'dreaming.doctor/schedule': 'The doctor tells of a schedule that cannot be kept, of one that has not been kept, and of runs that fail.',
    'dreaming.text/inert': 'Text in signals is only text: it forges no line of the memory and no mark of a report.',
  }),
  chosenSection('issue 41, "Better overnight"', {
    'dreaming.exam/keeps':
      'Changes of memory are tried on a copy by an exam; only those are made with which recall answers more, or as much with fewer tokens.',
    'dreaming.exam/updates': 'A later statement replaces a memory; statements about others, or that can both be true, do not.',
    'dreaming.exam/untrusted':
      'Text from outside is never a question, a replacement or a promotion, and labelled memories are not touched.',
    'dreaming.exam/undo': 'A change can be undone, and is not made again; a crash at any write leaves memory before or after it.',
    'dreaming.exam/month': 'Over simulated days held-out answers do not get worse from night to night, and recall takes fewer tokens.',
    'dreaming.exam/methods': 'The exam and its changes are listed; only people read its questions, and make, undo or dismiss changes.',
  }),
];
