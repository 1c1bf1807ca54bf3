import { chosenSection, specifiedSection } from './requirement.ts';

/** HTTP, admission, linking, the uplink, the managed browser, the command line, the package. */
export const bridge = [
  specifiedSection('interface 1, section 4.3', {
    'http.chat/completion': '`POST /v1/chat/completions` answers a `chat.completion` with choices and usage.',
    'http.chat/stream': 'With `stream: true` it sends `chat.completion.chunk` lines and ends with `data: [DONE]`.',
    'http.models/list': '`GET /v1/models` answers `{object: list, data}`.',
  }),
  specifiedSection('interface 1, section 9', {
    'http/prefix': 'HTTP paths are under `/v1`: nothing else reaches the gateway.',
  }),
  specifiedSection('interface 1, section 5', {
    'http/bearer': 'Each request carries `Authorization: Bearer`.',
  }),
  chosenSection('decisions, "HTTP"', {
    'http/unauthorized': 'Without it, or with a wrong one: 401 and the error object of type `unauthorized`.',
    'http/errors': '400, 404, 405 with Allow, 413, 429 with Retry-After, 502, each with its error object.',
    'http/hostile-bodies': 'No body, however it is made, is a 500 or holds the gateway up.',
    'http/hostile-upstreams': 'Whatever a model’s server sends ends in an answer or one clear error, and is no 500.',
    'http/usage-lies': 'Figures of usage that cannot be are not believed: they neither stop the counting nor use up a key’s budget.',
    'http/no-host': 'No host: 503 `unavailable` with Retry-After within 1 s.',
    'http/body-limit': 'A body over 20 MB is 413.',
    'http/hang-up': 'A caller that hangs up ends the work behind its request.',
    'http.chat/agent-and-direct':
      '`perch/<agentId>` runs the agent; `<provider>/<model_id>` goes straight to the model with every parameter; an unknown one is 404 `model_not_found`.',
    'http.chat/translated':
      'A model whose provider speaks another format is asked in its own words, tools, formats and thoughts included; what would change the meaning is 400 naming the parameter.',
    'http.chat/ignored':
      'Fields that have no effect on an agent or a model of another format are named in `x-perch-ignored` and in the log, and the request is answered.',
    'http.chat/refusal':
      'What a model or its vendor says in place of an answer that is refused is `refusal`, never `content`; nothing that was refused is done.',
    'http.chat/reasoning-tokens': 'How many tokens were thoughts is told where the provider tells, also of agents; it is never guessed.',
    'http.chat/agent-session':
      'In a session that the program names, an agent is told the last message with all that it has, exactly, beside its own system prompt; how the answer ended is told.',
    'http.chat/refused-message':
      'A message that is refused, for what it asks or by a limit, is not in its session; a session that would have begun with it is not there.',
    'http.chat/agent-params':
      'An agent’s model is told what the caller wants of the answer; what would change the meaning is 400 naming the parameter.',
    'http.chat/stream-error': 'An error after the first byte is an error object in the stream, then one `[DONE]`.',
    'http.chat/openai-client': 'The official `openai` package works against `/v1`, streaming and not.',
    'http.files/openai': '`/v1/files` uploads, lists, gets and deletes files, as the openai package does; a key sees its own.',
    'http.files/used': 'Chat completions and responses take an uploaded file by `file_id`.',
    'http.files/limits': 'Files have limits of size, number and time.',
    'http.conversations/openai': '`/v1/conversations` creates, changes and deletes conversations and their items; a key sees its own.',
    'http.conversations/continued': 'A response continues its `conversation`, and is added to it with its input.',
    'http.responses/input-tokens': '`/v1/responses/input_tokens` counts a request without answering it.',
    'http.responses/compact': '`/v1/responses/compact` puts a summary in place of what was said, which the next request brings.',
    'http.rerank/order': '`/v1/rerank` orders documents by the provider’s own endpoint, else by embeddings; who cannot says what to add.',
    'http.moderations/passed-on': '`/v1/moderations` passes on to the provider; who cannot says what to add.',
    'http.ollama/chat':
      '`/api/chat` and `/api/generate` answer for models of every provider and agents, streamed as lines of JSON or whole.',
    'http.ollama/models':
      '`/api/version`, `/api/tags` and `/api/show` list models and agents; a tag `:latest` that a client adds is ignored.',
    'http.ollama/running':
      '`/api/ps` lists the models and agents that the caller uses, or has used within `keep_alive`, by any API; a key sees only its own.',
    'http.ollama/embed': '`/api/embed` and the older `/api/embeddings` give vectors.',
    'http.ollama/errors': 'Errors of Ollama’s API are `{"error": "…"}`, before and after the first line.',
    'http.ollama/callers':
      'Ollama’s API needs the same credentials as `/v1`, also as the password of Basic, and has the same checks of Host and Origin.',
    'http.search/responses': 'The hosted tool `web_search` of `/v1/responses` is run for a model by the owner’s search service, and cited.',
    'http.search/messages': 'The server tool `web_search` of `/v1/messages` is run for a model of another vendor, and cited.',
    'http.search/own-tools': 'Tools of the caller stay with the caller beside a hosted search.',
    'http.file-search/responses':
      'The hosted tool `file_search` of `/v1/responses` is run for a model over the named collections, and cited.',
    'http.file-search/filters': 'A file search keeps to the number of results, the score and the filters of its request.',
    'http.file-search/rights': 'A file search needs the scope `collections`; without it, the request tells nothing about collections.',
    'http.file-search/agents': 'A file search in a request to an agent attaches the collections for this answer.',
    'http.search/unavailable': 'A hosted search without a service, or for a key without the scope `web`, is ignored and named.',
    'http.messages/translated':
      'Anthropic’s Messages API answers for agents and models of every provider, streamed and whole: text, tools, thinking, images, documents.',
    'http.messages/passed-on':
      'A request for an Anthropic model goes upstream with the caller’s own fields, version and beta headers, and its events come back byte for byte past the host.',
    'http.messages/errors': 'Errors of the Messages API have Anthropic’s form, before and after the first event.',
    'http.messages/ignored':
      'A parameter that the model or agent has no use for is ignored, and named in `x-perch-ignored` and in the log.',
    'http.messages/sdk':
      'The official `@anthropic-ai/sdk` works against `/v1/messages`: streams, tool runner, token counts, models and errors.',
    'http.messages/claude-code':
      'Claude Code does a task with two tools through Perch, with an Anthropic model and with one of another provider.',
    'http/ready': '`/ready` is 200 while a host serves, else 503 with Retry-After.',
    'http/metrics': '`/metrics` tells Prometheus of hosts, clients, requests and the process, to a credential that may read.',
    'http/request-id': 'Every answer of `/v1` has `x-request-id`, the caller’s own or a new one, and the log tells of the request by it.',
    'http.chat/splice-bytes':
      'A model’s answer reaches the caller as the upstream sent it, events each as soon as it is whole, and past the host.',
    'http.chat/splice-request': 'The upstream is asked with the caller’s own bytes, but for the model’s name.',
    'http.chat/standing':
      'What the core has decided holds for a second for the same caller’s whole answers of the same model; whatever turns out badly, and a change of the configuration, ends it.',
    'http.chat/splice-walls':
      'A host has only its own callers answered past it, each once, and nothing that upstreams or callers send brings a splice about.',
    'http.chat/splice-host': 'A host that dies or hands over does not end an answer that is being spliced.',
    'http.chat/splice-back-pressure': 'A caller who does not read holds the upstream back.',
    'http.chat/splice-alike':
      'An event that differs from the one before in nothing but what the model has written is passed on without being read as JSON.',
    'http.chat/true-usage':
      'The upstream of a stream is asked for its usage, also by a cached decision; a caller who did not ask does not see it. A server that refuses is asked without, and not asked for it again.',
    'http.chat/thoughts-in-text':
      'Thoughts within the text of a model that answers in OpenAI’s format come as `reasoning_content`, also in answers that are passed on; events without marks keep their bytes.',
    'http.chat/receipts':
      'What a spliced call has used is kept until a host has stored it, over a restart of the bridge too, and counts once.',
    'http/cors': 'CORS allows exact origins, never `*`.',
  }),
  chosenSection('design, "Two origins would be two databases": `--expose`', {
    'tls/app':
      'With a certificate other machines’ browsers get the app, a link and the lease over HTTPS, at the certificate’s names and the addresses it arrived at.',
    'tls/admission': 'Over TLS exactly these names, and the origin of the very same name, are let in.',
    'tls/only': 'With a certificate nothing from other machines is heard in the clear; this machine’s app stays where it was.',
    'tls/phone':
      '`perch open`, with `--qr` as a QR code, and what is printed at the start give a link for another device’s browser, where there is a certificate.',
    'tls/options': 'A certificate or key that cannot be used is refused at the start by its file’s name.',
  }),
  chosenSection('decisions, "Frames and connection": `--password` / `auth.password`', {
    'password/off': 'No password lets anybody in until one is set.',
    'password/connects': '`auth.password` in `connect` lets the owner in; over HTTP it is no bearer token.',
    'password/hash': 'A password is kept as a scrypt hash alone, in a file of mode 0600.',
    'password/locked-out':
      'Ten wrong passwords a minute for each origin or kind of credential, then 5 minutes refused unchecked; tokens are checked all the same.',
    'password/changes': 'A password that is changed or taken away counts at once, and lets go of whoever came in by the old one.',
    'cli/token':
      '`perch token --set-password` asks unseen, or reads standard input; `--clear-password` takes it away; `--password` and `PERCH_PASSWORD` connect by it.',
  }),
  chosenSection('quality.md, "Security"; decisions, "Frames and connection"', {
    'admission/origin': 'A foreign, prefixed or null Origin is refused on HTTP, WebSocket and uplink.',
    'admission/host': 'A rebound Host is refused before routing.',
    'admission/guessing': 'Ten failed tries a minute, then 5 minutes of lock-out; the owner’s token always passes.',
    'admission/bind': 'A bind that is not loopback is refused without `--expose`.',
    'token/file': 'The token is made at first start, 256 bits, in a file of mode 0600.',
    'app/csp': 'Pages carry the built policy as a header with `frame-ancestors`; workers carry their own.',
    'app/canonical-origin': 'HTML navigations to localhost, and only those, redirect to the canonical origin.',
    'link/code': 'A link’s code is single-use, lives as long as promised, and is traded for credentials.',
    'secrets/environment': 'No program that the bridge starts has its token or password in the environment.',
    'secrets/argv-and-logs': 'No secret of ours is in an argument list, a log or (single-use codes aside) a URL.',
  }),
  chosenSection('design.md', {
    'uplink/mutual-proof': 'On `/uplink` and the app’s `/ws` both sides prove themselves; a squatter learns nothing.',
    'lease/one-host': 'One host serves at a time, for as long as it answers; when it is dead another one replaces it.',
    'lease/host-dies': 'Clients are told within 5 s when the host dies.',
    'mux/credit': 'Chunks of 64 KB within credit: one stream’s bulk never blocks another.',
    'mux/fuzz': 'Random bytes and orders break nothing but the link that sent them.',
    'mux/versions': 'N talks with N−1.',
    'egress/guard': 'Egress refuses what is not HTTP, and link-local and metadata addresses.',
    'bridge/stalled-reader': 'A stalled reader buffers at most 4 MiB and slows no other.',
    'http/slow':
      'A request whose head takes over 15 s, or whose body takes over 5 minutes, is answered 408 and closed; others are served meanwhile.',
    'load/overload':
      'More than 1,000 exchanges are refused at once with 503 and `Retry-After`; health answers meanwhile, and afterwards all is as before.',
    'load/many': '500 connections that each call once a second are all answered, in order.',
    'bridge/port-taken': 'A taken port is an error that names its holder, never another port.',
    'bridge/killed':
      'After a SIGKILL the client is told within 5 s, service is back within 3 s of a restart, and nothing acknowledged is lost.',
    'bridge/nothing-outlives-it':
      'Processes started by the bridge never outlive it, SIGKILL included: commands, tool servers, models, browsers, speech, pictures of the screen, npm.',
    'bridge/lean-start':
      'A bridge that nobody asks anything loads neither Node’s own fetch nor what compiles schemas, and its journal’s thread no package at all.',
    'bridge/closes': 'SIGINT and SIGTERM end it within 3 s with exit code 0.',
    'headless/serves': 'With no tab open the managed Chromium hosts the gateway.',
    'headless/credential': 'It is given its credential through the debugging pipe, never by arguments.',
    'headless/restarts': 'It is restarted with back-off when it or its page dies.',
    'headless/gone': 'All its processes are gone when the bridge goes, also by SIGKILL.',
    'headless/profile': 'Its profile is kept, remembers the browser’s version, and a downgrade starts a fresh one.',
    'headless/which':
      '`PERCH_CHROMIUM` names the hosting browser, else a headless shell, else the system’s browser, else Playwright’s, else a headless shell is installed. What needs a full browser finds that first.',
  }),
  chosenSection('decisions, "Command line"', {
    'cli/three-lines':
      '`gateway run` prints three lines: the app with a code, the WebSocket address, `/v1` with a `curl` that works when pasted.',
    'cli/open': '`perch open` prints a new link of the running bridge.',
    'cli/errors': 'Errors are one line on standard error; exit 1 for failure, 2 for usage.',
    'setup/current': 'Setup installs and builds only what changed, and says what it is doing.',
    'client/examples': 'Each example of the page on `perch/client` runs as written and prints what the page says.',
    'package/ways':
      '`npm install -g`, `npx` and the steps of the container image each give a working `perch`, from an empty folder with an empty home.',
    'package/installs': 'The packed package installs elsewhere, serves, and `perch/client` can be imported.',
    'walls/imports': 'The import walls hold, and the built worker has nothing of Node or Svelte in it.',
  }),
];
