import { chosenSection, specifiedSection } from './requirement.ts';

/** Chat, sessions, models, configuration, tools: the gateway's methods so far. */
export const chat = [
  specifiedSection('interface 1, sections 3 and 4.1', {
    'chat.send/streams': '`chat.send` pushes deltas, then `chat.done`, and answers `{completed}`.',
    'chat.send/prepares': 'Params are validated, content is sanitized and the time context injected before the run.',
    'chat.send/route':
      '`model`, `provider`, `systemPrompt` and `temperature` are those of the run; `chat.resend` and `chat.edit` take model and provider too.',
    'chat.abort/aborts': '`chat.abort` ends the current generation and answers `{aborted}`.',
    'chat.history/messages': '`chat.history` answers the messages of a session.',
    'chat.citations/supported': 'A reply names the sources of the claims that they support, and of no others; its text has no markers.',
    'chat.citations/opens': 'A citation opens its document at the passage, which is highlighted.',
    'chat.citations/api': 'Answers of agents over `/v1` have annotations in OpenAI’s form.',
    'chat.resend/regenerates': '`chat.resend` re-sends the last user message.',
    'chat.resend/earlier':
      '`chat.resend` with `messageId` answers an earlier message of the person again; what followed stays as a branch.',
    'chat.edit/earlier': '`chat.edit` with `messageId` edits an earlier message of the person; what followed stays as a branch.',
    'chat.edit/reruns': '`chat.edit` edits the last user message and reruns.',
    'sessions.list/entries': '`sessions.list` answers entries with agentId, file, path, size.',
    'sessions.preview/messages': '`sessions.preview` answers the last messages by path.',
    'sessions.delete/deletes': '`sessions.delete` moves a session to the trash.',
    'trash/chats': 'A deleted chat is found only in the trash, and is restored as it was.',
    'trash/memories': 'A deleted memory is found only in the trash, and is restored with its time and its label.',
    'trash/pages': 'A deleted wiki page is found only in the trash, and is restored.',
    'trash/drawings': 'A deleted drawing is found only in the trash, and is restored with its shapes.',
    'trash/permanent': '`trash.delete` and `trash.empty` remove everything from storage.',
    'trash/expires': 'Items in the trash are deleted after 30 days.',
    'trash/full': 'If storage is full, a deletion is permanent and frees space.',
    'trash/people': 'Only people read and restore the trash.',
    'sessions.reset/keeps-entry': '`sessions.reset` clears the content and keeps the entry.',
    'agents.list/entries': '`agents.list` answers agents with id, session_count and config.',
    'agents.add/creates': '`agents.add` creates an agent and answers `{agent_id, created}`.',
    'chat.send/wordless': 'A message with attachments needs no words; the first file names the chat.',
    'agents/sessions':
      'Sessions of a removed agent stay and carry its name, however it was removed; with `deleteSessions` they are deleted.',
    'agents.remove/removes': '`agents.remove` removes an agent and answers `{agent_id, removed}`.',
    'models.list/entries': '`models.list` answers entries with the fields of section 2.2.',
    'models.providers/list': '`models.providers` lists providers.',
    'config/get-set-patch': '`config.get`, `config.set`, `config.patch` read and change the configuration.',
    'secrets.reload/reads': '`secrets.reload` reads secrets anew and answers `{reloaded, count}`.',
    'usage/shapes': '`usage.get` answers a summary, `usage.daily` `{dailyBreakdown}`, `usage.hourly` `{hourlyDistribution}`.',
    'tools/list-and-catalog':
      '`tools.list` answers names with a title and a summary each for people, `tools.catalog` entries with schemas.',
  }),
  chosenSection('decisions, "Chat"', {
    'chat.send/defaults': 'sessionId and agentId default to `main`.',
    'chat.send/result': 'The response comes when the run ends: completed, sessionId, runId, messageId, usage.',
    'chat.send/sanitize': 'NFC; NUL is INVALID_PARAMS; other control characters but tab and newline are dropped.',
    'chat.send/time-context': 'Time context goes to the run, never into the content of the stored message.',
    'chat.send/context': 'What changes from turn to turn is stored beside the message for models alone, and repeated byte for byte.',
    'chat.send/queue': 'A second message to a busy session waits its turn, first in first out.',
    'chat.send/abort-previous': '`abortPrevious` aborts the session’s run and waits until it has settled.',
    'chat.send/steer':
      '`steer` takes a message in between two steps of the run under way, ahead of all that waits: tools end first and what came is kept; text that is being written stops.',
    'chat.abort/takes-back': 'With `sentWith` a message that waits in line is taken back, and nothing else is touched.',
    'chat.send/attachments': 'An attachment too large or not decodable is INVALID_PARAMS, never dropped in silence.',
    'chat.abort/keeps-partial':
      'The partial reply is kept, marked aborted; the event is `chat.error` with code ABORTED; the waiting call fails with ABORTED.',
    'chat.abort/reaches-provider': 'Abort reaches the provider call and every tool.',
    'chat.history/pages': 'Default 200, maximum 1,000, by `before`; long messages become placeholders, 8 MiB in all.',
    'chat.edit/keeps-branch': 'Edit and resend keep the earlier branch; history is the active one.',
    'chat.branch/chooses':
      '`chat.history` names the versions of a message, and `chat.branch` makes one of them the active branch, down to what was said last there; what is sent next follows it.',
    'chat.branch/refuses': 'While a run is under way, and where there is no such message, `chat.branch` changes nothing.',
    'chat.reasoning/streams':
      'What a model thinks is pushed as `chat.reasoning`, apart from its text, kept with the step or reply that it comes before, and exported; models are not told of it again.',
    'chat.reasoning/bounded': 'Of what is thought in one step 32,000 characters are told and kept, and the message says that it was more.',
    'usage/reply': 'A reply says how long it took, and how many tokens its model was asked with last.',
    'runs/one-terminal-event': 'Exactly one of `chat.done` and `chat.error` per run, whatever the provider does.',
    'runs/silent-provider': 'A provider that says nothing for 60 s ends the run.',
    'runs/belongs-to-session': 'A run goes on when its client leaves.',
    'runs/interrupted': 'A host that restarts marks the run it was in `interrupted`, keeps the partial text and offers resend.',
    'usage/figures': 'Usage is the provider’s figures, or counted and marked `estimated`.',
  }),
  chosenSection('decisions, "Sessions, agents, models, channels, config"', {
    'sessions/path': 'A path is `<agentId>/<sessionId>.jsonl`; anything else is NOT_FOUND.',
    'sessions.list/details': 'Entries also carry title, times, messageCount, preview; the most recently used first.',
    'sessions.fork/copies':
      '`sessions.fork` makes a session of the active branch, whole or up to a message; the first one stays as it was.',
    'sessions.export/round-trip':
      'What `sessions.export` gives as JSON Lines, `sessions.import` makes a session of, with every branch; its bytes are the entry’s `size`.',
    'sessions.export/markdown': 'As Markdown it can be read.',
    'sessions.import/refuses': 'What is no export is INVALID_PARAMS with the line, and leaves nothing.',
    'sessions/order': 'Sessions are pinned, archived, put into folders and tagged; it stays, and others are told.',
    'sessions.rename/title': '`sessions.rename` gives a title that stays.',
    'agents/main': '`main` always exists and cannot be removed; a taken id is ALREADY_EXISTS, an unknown one NOT_FOUND.',
    'agents/config': 'Each agent has its own model, prompt, temperature, tools and memory; two hands that add agents at once both succeed.',
    'agents/hosts': 'An agent that one host has made is there at the next one that answers.',
    'agents/tools': 'An agent is offered the tools that its configuration allows, and can call no other.',
    'tools/default-set':
      'A model gets a default set of tools with every message and finds the others by `tool_search`; `toolGroups` of its agent replace the set.',
    'tools/stable': 'The tools in the requests of a chat stay the same, also when MCP servers start and stop.',
    'tools/real-name': 'A call by `tool_call` is known by the tool that runs, in events, history, approvals and rights.',
    'tools/tasks':
      'Tasks that need a tool outside the default set are done through the app, with its approvals, and shown under that tool.',
    'agents/bindings': '`agents.bindings` answers `{pattern, agentId}` at every protocol, the catch-all last.',
    'models/key': 'A model’s key is `<provider>/<model_id>`.',
    'usage/windows': '`days` is 7 unless said, 1 to 365; days and hours are those of the configured time zone, without holes.',
    'usage/counts': 'Runs and `/v1` calls are counted alike, also what one has written that was aborted or failed then.',
    'config/secrets': 'Secrets read as `***`, and writing `***` back keeps them.',
    'config/defaults': '`config.get` of a setting that is not set gives its default.',
    'config/unknown':
      '`config.set` and `config.patch` refuse a setting that is not known and name the nearest one. Those of the configuration file stay, and can be deleted.',
    'config/unknown-secrets': 'What looks like a secret in settings that are not known is hidden.',
    'config/patch': 'A merge patch is validated as a whole; a stale baseHash is INVALID_PARAMS.',
    'config/prototype': '`__proto__`, `constructor`, `prototype` are refused on every way into the configuration.',
  }),
  chosenSection('decision 0126', {
    'chat/parameters':
      'How a model answers is set by call, chat, job or channel, and agent, in this order. A chat stores its own, shows them in lists and resets them.',
  }),
  chosenSection('quality.md, "Reliability"', {
    'providers/openai-stream': 'An OpenAI-compatible server’s stream arrives as deltas, its usage as usage.',
    'providers/hostile-upstream':
      'An upstream that cuts, stalls, sends garbage or splits SSE anywhere ends in exactly one terminal event with a clear error.',
    'providers/odd-calls': 'Calls are told apart whatever their index, id and name; arguments that were lost are never run.',
    'providers/keep-alive': 'Events that say nothing keep a stream alive and change nothing.',
    'providers/thoughts-in-text': 'Thoughts that a model marks in its text are no part of the answer.',
    'providers/reported-errors': 'An error in a stream ends the run with the server’s words, in every usual form.',
    'providers/framing': 'Streams are read with single line feeds, as JSON lines, and as one whole answer.',
    'providers/large-events': 'An event may have 25 MiB; streams together may hold 256 MiB of unfinished ones.',
    'providers/pictures': 'Pictures that a model makes are part of the reply.',
    'providers/not-itself': 'A gateway that is made its own provider refuses the request that comes round, and serves on.',
    'providers/discovery': 'Model servers on localhost are found without being asked.',
    'providers/keys': 'A provider’s key is sent to its own origin alone and appears in no answer, event or log.',
    'guide/answers': 'The guide answers from docs, memory and sessions, streams, and says that it is no model.',
    'tools/policy': '`tools.catalog` tells of each tool whether it has an effect, and whether a person is asked first.',
    'tools/run':
      '`tools.run` runs a tool by hand with what comes along with its result; approvals stand before it as always, an agent’s limits hold, and it ends with the connection, or by `tools.cancel`.',
    'tools/page':
      'The page Tools lists all tools by where they come from, says what each takes and whether it asks first, changes that, and runs one from a form made of its schema, as the agent that is chosen and after the same approvals; it says for how long, and can be cancelled.',
    'guide/tools': 'The guide runs tools by `/tool name {json}` for the owner’s own connections only.',
    'storage/acknowledged-is-durable': 'What was acknowledged is there after the worker is killed.',
    'storage/atomic': 'A crash at any write step leaves the old or the new state, never half.',
    'storage/change-log': 'Every store’s change goes to the change log in the same transaction.',
    'storage/migrations': 'Migrations append; data of an earlier version is kept.',
    'storage/heals': 'A database closed under us is opened again and data is kept.',
    'storage/quota': 'A full quota is told and nothing of the failed write is stored.',
    'storage/disk-full':
      'On a full disk each refused write says that storage is full, in the log and in Doctor too. Nothing acknowledged is lost, and it works again once there is space.',
    'storage/epoch': 'A worker that lost its ownership cannot commit what acknowledges data or starts a run.',
  }),
];
