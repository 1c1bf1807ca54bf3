import { chosenSection, specifiedSection } from './requirement.ts';

/** Counting tokens, and what becomes of conversations that grow too long. */
export const compaction = [
  chosenSection('decisions, "Chat"', {
    'tokens/families':
      'Tokens are counted as the model’s family does: with OpenAI’s tokenizers for its models, by estimates that were measured for others.',
    'tokens/slices': 'Whatever a text is made of, slices of it are short and have as many tokens as the whole.',
    'tokens/turns':
      'While a tokenizer is made ready, and while texts are counted, other work has its turn: the table is read and its map made in pieces.',
    'tokens/usage': 'Where a provider gives no figures, usage is counted for the model that answered, and marked `estimated`.',
  }),
  chosenSection('decisions, "Memory, recall, wiki and dreaming"', {
    'compaction.run/threshold':
      'At `compaction_threshold` of its model’s context a conversation is summarised while its turn goes on; later prompts have the summary and what follows; all that was said stays.',
    'compaction.run/overflow':
      'Where the context is full, or `async_mode` is off, the turn waits for the summary; a later summary takes in the one before.',
    'compaction.run/too-long':
      'Where a provider finds the prompt too long the conversation is summarised once and asked again, also in the midst of a turn with tools; where that does not help, an error says so, and nothing is dropped.',
    'compaction.run/failure': 'A summary that fails or is empty drops nothing; the log says why, and the next try waits longer each time.',
    'compaction.run/abort': 'A stop while a summary is made drops nothing.',
    'compaction.run/branches':
      'A summary stands at its place in the tree: branches from above it have none; forks, exports and imports carry it along.',
    'compaction.run/memory': 'Before a summary the model is asked what is worth remembering, where the agent has a memory.',
    'compaction.run/pairs': 'Whatever the tree, no call of a tool is parted from its result.',
    'compaction.run/crash': 'A host that dies while it summarises leaves the conversation as it was, or with the whole summary.',
    'compaction.app/mark':
      'The chat shows where its earlier messages were summarised, with how many messages and tokens, and opens to the summary; all above stays readable.',
    'sessions.compact/manual': '`sessions.compact` summarises a session now, and says why where it does not.',
  }),
  specifiedSection('interface 2, section 2.4', {
    'compaction/settings':
      '`memory.compaction` and `memory.summary` have the fields and samples of the document; what does not fit is named.',
  }),
];
