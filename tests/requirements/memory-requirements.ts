import { chosenSection, specifiedSection } from './requirement.ts';

/** Storing and finding memories. */
export const memory = [
  chosenSection('issue "Memory, active recall, wiki and dreaming"', {
    'memory/workspaces': 'The files of a memory are the same in memory, in a folder and in the vault of the gateway.',
    'memory/updates': 'What is made of what a file has loses nothing that others write to it meanwhile.',
    'memory/workspace-refusals': 'A path, a text or a workspace that cannot be written says why, and nothing is changed.',
    'memory.search/words':
      'Memory is found by its words in whatever form: endings, irregular forms, either spelling, accents or none, in many languages and in scripts without spaces.',
    'memory.search/related': 'Other words for the same find it too, and so do expressions: "tied the knot" is found by "married".',
    'memory.search/neighbours': 'An answer is found by the words of its question, and of what else was said beside it.',
    'memory.search/times': 'Times that a query names ("last March") bring up what was said then, or speaks of then.',
    'memory.search/reasons': 'Each result says which words of the query speak for it.',
    'memory.search/follows': 'What is added, changed or removed is searched so at once.',
    'memory.search/rank':
      'Who said it, what is current and what is denied decide the order, and a passage next to a better one is put back.',
    'memory.search/fit': 'A search says how likely its results answer the query, so that memory and recall can say that nothing fits.',
    'memory.search/alias': 'Whom a passage introduces by name is found under the word for the relation, such as "my sister".',
    'memory.search/lines':
      'A single line that begins with a name is what that person said: lines of one hour are neighbours, and a date in front says when.',
    'memory.search/any-text': 'Any text can be added and asked for; scores fall, and coverage stays within 0 and 1.',
    'memory.config/yaml': 'Settings are read in either spelling, from YAML too; what does not fit is named.',
    'memory.compaction/check':
      'Compaction is needed at `compaction_threshold` × `max_tokens`; the newest `reserve_ratio` stays; a tool call is never parted from its results; nothing is lost.',
    'memory.summary/markdown': 'A structured summary is written as Markdown and read back the same.',
    'memory.long-term/lines': 'Lines of the long-term file are written and read back the same, whatever a person wrote between them.',
  }),
  chosenSection('decision 0042', {
    'memory.index/snapshot':
      'An index that comes back from a snapshot finds the very same as one made anew, with the same scores, whatever was added, changed and removed before and since.',
    'memory.index/damaged':
      'A snapshot that is damaged, cut off or of another version is not used; the index is made anew, and nothing is lost.',
    'memory.index/kept':
      'A restart analyses no text that a snapshot has, and reads no file that has not changed; the snapshot is written again in the background and at the end.',
    'memory.index/crash': 'Whichever write does not come about, the next start finds the same as an index made anew.',
    'memory.index/slices': 'Writing a snapshot, and indexing what it lacks, let others have their turn.',
  }),
  specifiedSection('interface document 2, sections 2.4, 2.5 and 4.4, in Node', {
    'memory.node/folder':
      'A memory lies in a folder as files that persons can read; what has been answered is on disk; no path leads out of the folder.',
    'memory.node/processes':
      'Several processes may change the memory in one folder: nothing that one has written is lost by another, also where one was killed.',
    'memory.node/database':
      '`memory.db` is an SQLite file with the passages and a full-text table; a start reads only files that have changed; one that is damaged is made again.',
    'memory.node/model': 'A model is asked in OpenAI’s format; whatever goes wrong is told by a sentence that names the provider.',
    'memory.node/config': '`MemoryConfig.fromYaml` reads a file, and names it with what does not fit.',
    'memory.node/libraries':
      'Active recall, the wiki of claims and dreaming work on folders in Node, as the interface document’s samples use them; what they keep is there after a restart.',
    'memory/names': 'A page says for each name of the interface document what it is called here, and names only what there is.',
    'memory.node/package': '`perch/memory` can be imported in Node, with types.',
  }),
  specifiedSection('interface document 2, sections 2.5 and 4.4; decisions, "Memory, recall …"', {
    'memory.manager/remembers':
      'Memories are added to the long-term file once, by ids that stay, are found by search, and can be forgotten.',
    'memory.manager/preferences':
      'A preference takes the place of an earlier one of its name; all are given by name; what a person wrote in the file stays.',
    'memory.manager/openai':
      'Messages in the shape of OpenAI’s chat completions are taken: `content: null` with `tool_calls`, `developer`, parts.',
    'memory.manager/dialog':
      'Dialogs are kept as JSON lines by day, no message twice, and found with who spoke, when, and what was said beside it.',
    'memory.manager/retention': 'Dialogs and put-aside results of tools go when they are older than `retention_days`.',
    'memory.manager/tool-results': "A tool's result over `max_length` is put aside as a file, which its stub names.",
    'memory.manager/follows': 'The index follows the files, whoever changes them; what cannot be read is counted and kept.',
    'memory.manager/crash': 'Whichever write fails, there is the old or the new, and doing it again makes it whole.',
    'memory.manager/large': 'A long-term file of 10 MB is read in slices that let others have their turn.',
    'memory.manager/summary':
      'A summary is made by the model behind the dialog’s being kept and what matters’ being remembered; one that fails, or is empty twice, drops nothing.',
    'memory.manager/days': 'The summary of a day is written beside what a person wrote there, by a model or as an extract.',
    'memory.manager/tools': 'The five memory tools work on it, say what arguments they take, and refuse others with a sentence.',
    'memory.manager/runner':
      'A runner compacts before a turn, at once or while the conversation goes on, gives tools and context, and keeps the dialog.',
    'memory.manager/untrusted':
      'Instructions within what is remembered or said are only text: marked as data, and unable to end their marks.',
  }),
  chosenSection('issue "Memory, active recall, wiki and dreaming"; interface document 2, sections 2.5 and 4.4', {
    'memory.agents/calls': '`memory.*` adds, changes, finds, lists and forgets; what was forgotten can be put back as it was.',
    'memory.agents/files':
      'An agent’s memory is files in its workspace, which persons may edit; agents with one workspace have one memory.',
    'memory.agents/dialogs':
      'Conversations of the last month are searched where they are stored; not the current one by its own agent, and none of a channel.',
    'memory.agents/pages':
      '`memory.list` gives all or pages, the newest first; nothing is left out of them, whatever is forgotten on the way.',
    'memory.agents/recalled': '`memory.recalled` tells what each reply was told, by agents with the same memory, page by page.',
    'memory.agents/daily':
      'Where it is switched on, each day that is over gets a summary by itself, in the person’s time zone, and once; missed days are caught up with.',
    'memory.app/import': 'Lists of memories of ChatGPT and Claude are read from pasted text or a file, shown first, and added once.',
    'memory.app/page':
      'The page Memory finds with reasons, lists by category, adds, changes, forgets and puts back, and shows preferences, days, and what was recalled.',
    'memory.app/follows': 'The page Memory follows what others change, of the agent that is looked at alone.',
    'memory.app/long': 'Of thousands of memories the page holds those that somebody has come to.',
    'memory.app/recalled':
      'In the chat a line says what a reply was told from memory and why, live and from history; it can be forgotten there, and recall be switched off for the chat.',
    'memory.app/linked': 'A link to a message opens its chat there, however far up it is.',
    'memory.agents/brought-over': 'What earlier versions remembered is brought into the main agent’s file, once, wherever it was cut off.',
  }),
  chosenSection('decisions, "Memory, recall …"', {
    'memory.vectors/alike': 'Of many vectors those are told that are the most alike, in bounded memory.',
    'memory.vectors/once': 'A text’s vector is made once for a model, and kept by a hash of the text.',
    'memory.vectors/fails': 'Where vectors cannot be made, text alone is searched, and the model is asked again later.',
    'memory.vectors/gateway':
      'The gateway’s memory is searched by meaning where `memory.embeddings.model` names a model; each text is sent once.',
    'memory.vectors/combined': 'Where there are vectors, they count 0.7 and words 0.3.',
  }),
];
