/** One article of the product's own documentation, as the guide quotes it. */
export interface Article {
  id: string;
  title: string;
  /** Markdown, short. */
  text: string;
  /** Words that people ask with and the text does not have. */
  keywords?: string;
}

/** What the guide knows. Every statement is about what this build does; a test holds names of methods, tools and settings against the code. */
export const articles: readonly Article[] = [
  {
    id: 'what-is-perch',
    title: 'What Perch is',
    keywords: 'about product purpose explain introduction overview gateway agent assistant',
    text: `Perch is an agent gateway that lives in your browser. Its core runs in a background worker of a tab, and chats, memories and settings are kept in that browser's own database. A small Node program, the *bridge*, lends it what a browser lacks: an address on localhost where other programs can reach it.

So you chat in the app, and your programs talk to the same agent through a WebSocket or any OpenAI client.`,
  },
  {
    id: 'guide',
    title: 'What the guide is',
    keywords: 'who are you bot ai llm language model intelligence understand chatgpt',
    text: `The guide is what answers until you choose a model. It is **not a language model**: it looks your question up in Perch's docs, in what you asked it to remember and in your earlier chats, and quotes what it finds with where it came from. It can also run tools: type \`/tools\` for the list.

It works with no key, no network and no download. For free conversation, add a model in Settings.`,
  },
  {
    id: 'first-steps',
    title: 'First steps',
    keywords: 'start begin getting started beginner tutorial do next onboarding',
    text: `1. **Chat.** Write below and press Enter. The guide answers at once.
2. **Add a model** on the page Models, or by Settings → Providers, which leads there: a server on this machine, or any OpenAI-compatible service with its base URL and key.
3. **Let it remember.** Say "remember that …"; ask about it later.
4. **Call it from outside.** Start the bridge with \`npm start\` and paste the \`curl\` line that it prints.`,
  },
  {
    id: 'add-model',
    title: 'Adding a model',
    keywords: 'connect configure setup use provider llm settings real model choose install',
    text: `Open **Models → Providers** (Settings → Providers leads there). Model servers that run on this machine on their usual ports are found without being asked: Ollama, LM Studio, llama.cpp and vLLM. Of the others choose the **kind**: OpenAI, Anthropic, Google Gemini, OpenRouter, Mistral, Groq, DeepSeek, xAI, or any server that speaks the OpenAI format, which is added with a **base URL** (up to and including \`/v1\`). Most want an **API key**.

Then choose the model in the chat. Models are named \`<provider>/<model_id>\`, for instance \`ollama/llama3.2\`.`,
  },
  {
    id: 'ollama',
    title: 'Using Ollama',
    keywords: 'local llama offline model pull 11434',
    text: `Start Ollama and fetch a model, for instance \`ollama pull llama3.2\`. Perch looks for it at \`http://127.0.0.1:11434/v1\` and lists its models under \`ollama/\`. If Ollama was started after the app, press refresh in Models → Providers.

Another host or port: add it as a provider with its base URL, for example \`http://127.0.0.1:11500/v1\`. No key is needed.`,
  },
  {
    id: 'gguf',
    title: 'Models without a server: GGUF files',
    keywords: 'local gguf download hub huggingface modelscope offline quantisation disk runtime',
    text: `Perch runs models in GGUF files itself. In a terminal, \`models download <owner>/<name>\` fetches one from Hugging Face, or with \`--source modelscope\` from ModelScope: the best quantisation that fits this machine, or the one that \`--filename\` names. A download that was cut short goes on where it stopped. \`models runtime install\` gets what runs them, about 85 MB, once.

Then \`models select <owner>/<name>/<file>\` makes it the default model; in the chat it is listed under \`gguf/\`. \`models local\` lists what is there, \`models delete-local\` deletes. One model is loaded at a time, and unloaded when nobody has asked it for five minutes.`,
  },
  {
    id: 'browser-models',
    title: 'Models without a server: in this browser, and MLX',
    keywords: 'local browser webgpu wasm transformers onnx download offline embeddings mlx apple silicon mac mirror',
    text: `A model can run in the browser itself, without a bridge: \`models.download\` with \`backend: 'browser'\` and a repository that is made for transformers.js (it has ONNX files) fetches it into the browser's storage, and \`models.progress\` tells how far it is. It is listed under \`browser/\`, runs on the graphics processor by WebGPU where there is one, else by WebAssembly, and is unloaded after five idle minutes. Some page of Perch has to be open, or the bridge's own browser runs it. It stays on this device, and works without a network. \`models.hub\` in the settings names a mirror of Hugging Face.

\`models.local\` lists all models that are kept on this machine, \`models.select\` makes one the default, \`models.deleteLocal\` deletes one. On a Mac with Apple silicon, models for MLX are run by \`mlx_lm.server\` (\`pip install mlx-lm\`): \`models download <owner>/<name> --backend mlx\`.`,
  },
  {
    id: 'built-in-model',
    title: 'The model that comes with the browser',
    keywords: 'local browser built-in builtin chrome gemini nano prompt api language model offline',
    text: `Where the browser brings a model of its own, as Chrome does on larger machines, the page Models offers to have it fetched: some gigabytes, once for all sites. It is listed as \`builtin/language-model\`, answers while a tab of Perch is open, and what you write stays on this machine. It uses no tools.`,
  },
  {
    id: 'lm-studio',
    title: 'Using LM Studio',
    keywords: 'local lmstudio server cors 1234',
    text: `In LM Studio load a model and start its local server. Perch finds it at \`http://127.0.0.1:1234/v1\` and lists its models under \`lmstudio/\`.

Without the bridge the browser calls LM Studio itself, and then CORS has to be enabled in LM Studio's server settings.`,
  },
  {
    id: 'llama-cpp',
    title: 'Using llama.cpp',
    keywords: 'local gguf llama-server llamacpp 8080',
    text: `Start \`llama-server -m model.gguf\`. Perch finds it at \`http://127.0.0.1:8080/v1\` and lists the loaded model under \`llamacpp/\`. If it runs on another port, add that as a provider with its base URL.`,
  },
  {
    id: 'vllm',
    title: 'Using vLLM',
    keywords: 'gpu server serve 8000 local',
    text: `Start \`vllm serve <model>\`. Perch finds it at \`http://127.0.0.1:8000/v1\` and lists its models under \`vllm/\`. A server started with \`--api-key\` does not list its models without the key: add it in Models → Providers with base URL and key.`,
  },
  {
    id: 'hosted-models',
    title: 'Using a hosted service with an API key',
    keywords: 'openai groq mistral together deepseek xai grok cloud online token secret compatible api key base url',
    text: `In **Models → Providers** choose the **kind** and paste your **API key**: OpenAI, Anthropic, Google Gemini, OpenRouter, Mistral, Groq, DeepSeek and xAI need no address. Any other service with an OpenAI-compatible address works with its **base URL**. Its models then appear in the list. Over WebSocket, \`models.catalog\` lists the kinds.

The key is encrypted in the browser's database, is sent to that provider's address only, and reads as \`***\` everywhere else.`,
  },
  {
    id: 'anthropic',
    title: 'Using Anthropic (Claude)',
    keywords: 'claude opus sonnet haiku messages api console key sk-ant',
    text: `In **Models → Providers → Add a provider** choose **Anthropic** and paste the API key from Anthropic's console. The models appear as \`<provider>/claude-…\`. Pictures and PDFs are sent as they are, tools work, several at once too.

Over the API: \`config.set\` with key \`providers.anthropic\` and value \`{"kind": "anthropic", "apiKey": "…"}\`. \`/v1/chat/completions\` works with these models; parameters that the Messages API does not have, such as \`response_format\`, are refused by name.`,
  },
  {
    id: 'google',
    title: 'Using Google Gemini',
    keywords: 'gemini gemma google ai studio flash pro key aiza',
    text: `In **Models → Providers → Add a provider** choose **Google Gemini** and paste the API key from Google AI Studio. The models appear as \`<provider>/gemini-…\`. Pictures, PDFs, sound and video are sent as they are, and tools work.

Over the API: \`config.set\` with key \`providers.google\` and value \`{"kind": "google", "apiKey": "…"}\`. A request or reply that Google blocks by its safety rules ends with a refusal that says so, and over \`/v1\` with the finish reason \`content_filter\`.`,
  },
  {
    id: 'openrouter',
    title: 'Using OpenRouter',
    keywords: 'openrouter many models one key router credits',
    text: `In **Models → Providers → Add a provider** choose **OpenRouter** and paste its API key. All its models appear, as \`<provider>/<vendor>/<model>\`, with the limits and prices that OpenRouter lists; what a reply cost is what OpenRouter billed.`,
  },
  {
    id: 'fallbacks',
    title: 'Fallback models',
    keywords: 'fallback chain backup second model instead takes over fails unavailable overloaded chat.fallbacks agents fallbacks',
    text: `The setting \`chat.fallbacks\` is a list of model keys, such as \`["openai/gpt-5", "ollama/llama3.2"]\`; \`agents.<id>.fallbacks\` sets it for one agent. When a model fails before it has shown anything, after its tries, the next of the list answers, and the message says which it was. That is so for rate limits, failures, bad keys and models that are gone. What is wrong with the request itself, such as a context that is too long, goes to no other model, and what was shown already stands.

Where all fail, the error has all their reasons.`,
  },
  {
    id: 'prices',
    title: 'What a reply costs',
    keywords: 'price cost money dollars usd tokens usage bill expensive pricesAsOf',
    text: `Each reply's usage has its cost in US dollars: what the provider billed, where it says so, else its real tokens at the model's price, cached input at its own. \`usage.get\` sums it up. Prices and limits are those that the provider's server lists; what it does not list comes from a table in Perch, whose day \`models.list\` tells as \`pricesAsOf\`. The guide and models on this machine cost nothing. A price that is not known is left out, never guessed.`,
  },
  {
    id: 'provider-states',
    title: "What a provider's state means",
    keywords: 'ready needs key unreachable error red offline status wrong 401 403 not working',
    text: `- **ready**: it lists its models.
- **needs key**: its kind wants a key and has none, or it answered 401 or 403. Add or correct the API key in Settings.
- **unreachable**: nothing answered in time, or what answered is no model server. Is it running? Does the base URL end with \`/v1\`?

Lists are kept for a minute; refresh asks again at once and looks for new servers on this machine.`,
  },
  {
    id: 'default-model',
    title: 'Choosing the default model',
    keywords: 'switch change select setting preferred chat.model system prompt temperature chat.maxSteps step limit tools',
    text: `The setting \`chat.model\` holds the default, such as \`ollama/llama3.2\`; \`agents.<id>.model\` sets it for one agent. Without either, the guide answers. A single call can name another: \`model\` in \`chat.send\`.

\`chat.systemPrompt\` is what a model is told first, and \`agents.<id>.temperature\` is its temperature. \`chat.maxSteps\` (50 by default, 1 to 1000) is how many calls of the model one reply may take, with the tools between them; in the last one it has to answer without tools.`,
  },
  {
    id: 'compare-models',
    title: 'Comparing models side by side',
    keywords: 'compare two models side by side columns versus difference speed first word cost',
    text: `Open the list of models in a chat and choose **Compare models**, or the page \`/compare\`: one message goes to two models, or three, each in a chat of its own, with the time to its first word, its whole time, tokens and cost. Each has its own Stop and *Answer again*; Esc stops all. The chats are marked with a tag of their own in the list, and **Go on with this one** opens one of them; **Back to the comparison** leads back from there.`,
  },
  {
    id: 'incognito',
    title: 'An incognito chat, kept nowhere',
    keywords: 'incognito private secret temporary anonymous off the record forget not saved trace',
    text: `The hat beside **New chat**, or the page \`/incognito\`: the conversation is in that page alone, and is gone once you leave or reload it. It is in no store, list, search, log or backup; **Usage** counts its tokens and cost by model, without a word of it. There are no tools, and nothing is told from memory or other chats; no other model takes over. What the model's server keeps is its own matter. Programs do the same by \`incognito.send\`, with the whole conversation each time.`,
  },
  {
    id: 'not-in-list',
    title: 'A local model server is not found',
    keywords: 'missing discover detect troubleshooting does not appear cannot see port localhost cors private',
    text: `Perch looks at four ports of this machine: 11434 (Ollama), 1234 (LM Studio), 8080 (llama.cpp) and 8000 (vLLM). Check that \`http://127.0.0.1:<port>/v1/models\` answers, then refresh in Models → Providers. For another port or machine, add the server with its base URL.

Without the bridge the browser makes the call, so the server must allow the app's origin (CORS). With the bridge running, calls go through it and CORS does not matter.`,
  },
  {
    id: 'start',
    title: 'Starting Perch with npm start',
    keywords: 'run launch install command line bridge begin server node version requirements',
    text: `In a checkout, with Node 20 or newer: \`npm start\`. The first time it installs, builds and finds or installs a Chromium; later it serves within seconds. It prints three lines: the app's address with a single-use code, the WebSocket address, and the base of \`/v1\` with a \`curl\` that works when pasted.

Stop it with Ctrl+C. The app in an open tab keeps working without it.`,
  },
  {
    id: 'bridge',
    title: 'What the bridge is',
    keywords: 'bridge node process localhost 7333 egress why needed',
    text: `The bridge is a small Node program on this machine, by default at \`http://127.0.0.1:7333\`. It serves the app, gives programs an address (\`/ws\` and \`/v1\`), starts a managed Chromium so that the gateway also runs with no tab open, and makes calls to model servers without the browser's limits.

It checks origin, host, token and size, and passes bytes on. The gateway itself stays in the browser.`,
  },
  {
    id: 'host-modes',
    title: 'Where the gateway runs: --host auto, tab, headless',
    keywords: 'host mode managed chromium no tab unattended background browser option flag',
    text: `\`perch gateway run --host auto|tab|headless\` (in a checkout \`npm start -- --host …\`):

- **auto** (default) and **headless**: the managed Chromium hosts the gateway whenever the bridge runs, so it serves with no tab open. Tabs are its clients.
- **tab**: the worker of an open tab hosts it. With no tab open, callers are told that there is no gateway.

Without a bridge the tab's own worker always hosts.`,
  },
  {
    id: 'chromium',
    title: 'Which browser the bridge uses',
    keywords: 'chrome chromium edge path PERCH_CHROMIUM playwright find not found install',
    text: `The bridge uses the browser that \`PERCH_CHROMIUM\` names, else a headless Chromium (\`chromium-headless-shell\`) of the system or of Playwright, else Chrome, Chromium or Edge. If there is none it installs the headless Chromium, asking first on a terminal. It runs with a profile of its own, apart from your browsing, and goes away with the bridge.`,
  },
  {
    id: 'linking',
    title: 'Linking a tab to the bridge',
    keywords: 'link code fragment address login sign in pair open expired connect app',
    text: `The address that \`npm start\` prints carries a single-use code behind the \`#\`. The page trades it for a credential of its own and removes it from the address. The code lives ten minutes.

Used up or expired? \`perch open\` (in a checkout \`npm run -s perch -- open\`) prints a new one. A tab that is not linked still works on its own, without the bridge.`,
  },
  {
    id: 'token',
    title: 'The access token',
    keywords: 'auth authorization bearer password authentication credential 401 unauthorized where',
    text: `Programs authenticate with a token: \`Authorization: Bearer <token>\` over HTTP, \`auth.token\` in \`connect\` over WebSocket. It is made at the first start and kept in a file that only you can read, in the platform's configuration directory under \`perch\`, or in \`PERCH_HOME\` where that is set.

\`--auth-token\` sets one by hand, but then it shows in the process list; the file is safer. Repeated wrong tokens lock the guesser out for some minutes, never you. \`perch token\` (in a checkout \`npm run -s perch -- token\`) says where the file is.`,
  },
  {
    id: 'password',
    title: 'A password instead of the token',
    keywords: 'password login sign in people remember set change clear forget auth.password PERCH_PASSWORD perch token --set-password',
    text: `A password is a second way in for people who cannot carry a token of 43 characters along. There is none until you set one: \`perch token --set-password\` (in a checkout \`npm run -s perch -- token --set-password\`) asks for it unseen (or reads it from standard input), and \`perch token --clear-password\` takes it away. A gateway that runs goes by it at once, and lets go of whoever came in by an older one. Only its scrypt hash is kept.

WebSocket clients send it as \`auth.password\` in \`connect\`; \`perch doctor\` takes it from \`PERCH_PASSWORD\`, or by \`--password\`, which shows in the process list. \`/v1\` takes the token alone. After ten wrong passwords in a minute all passwords are refused for five minutes; the token still lets you in.`,
  },
  {
    id: 'api',
    title: 'Calling Perch from a program',
    keywords: 'api outside external integrate script client code http websocket endpoint sdk',
    text: `Start the bridge with \`npm start\`; it prints the addresses. Then there are two ways in, both with the access token:

- **OpenAI format** at \`http://127.0.0.1:7333/v1\`: \`curl\`, the \`openai\` package, or anything else that lets you set a base URL. The model \`perch/main\` is your agent.
- **WebSocket** at \`ws://127.0.0.1:7333/ws\`, protocol 3: everything that the app can do, with streamed events.

No tab needs to be open.`,
  },
  {
    id: 'curl',
    title: 'Calling Perch with curl',
    keywords: 'http api rest request example v1 completions outside program endpoint',
    text: `With the bridge running:

\`\`\`sh
curl http://127.0.0.1:7333/v1/chat/completions \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "perch/main", "messages": [{"role": "user", "content": "Hello"}]}'
\`\`\`

Add \`"stream": true\` (and \`curl -N\`) for server-sent events that end with \`data: [DONE]\`. \`npm start\` prints such a line that works when pasted.`,
  },
  {
    id: 'openai-package',
    title: 'Using the openai package',
    keywords: 'javascript typescript python sdk client library api program code base_url outside',
    text: `\`\`\`js
import OpenAI from 'openai';
const client = new OpenAI({ baseURL: 'http://127.0.0.1:7333/v1', apiKey: process.env.PERCH_TOKEN });
const stream = await client.chat.completions.create({
  model: 'perch/main',
  messages: [{ role: 'user', content: 'Hello' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');
\`\`\`

Python is alike, with \`base_url\` and \`api_key\`.`,
  },
  {
    id: 'http-models',
    title: 'Model names over HTTP',
    keywords: 'v1 models agent perch/main route direct passthrough parameter api list',
    text: `\`perch/<agentId>\` (for instance \`perch/main\`) runs the agent, with its tools and system prompt. \`<provider>/<model_id>\` goes straight to that model with every parameter passed on (tools, response_format, stop, …), and tool calls come back to you. \`GET /v1/models\` lists both kinds.

Models of Anthropic and Google are told the parameters in their own words; so is an agent's model. What one of them cannot do, such as \`seed\` with Anthropic or \`logprobs\`, is a 400 that names the parameter. Thoughts come back as \`reasoning_content\`.

An agent call is stateless; the field \`user\` or the header \`x-perch-session\` names a session to continue. That has what came before: the last message is added to it, with the system messages for this one reply.`,
  },
  {
    id: 'http-responses',
    title: 'Responses over HTTP',
    keywords: 'v1 responses openai previous_response_id store retrieve delete conversation state',
    text: `\`POST /v1/responses\` follows the public Responses API, for agents and models: \`client.responses.create({ model: 'perch/main', input: 'Hi' })\`. Unless \`store\` is false the response is kept, for 30 days and behind at most 1000 newer ones: \`previous_response_id\` goes on from it, \`GET\` and \`DELETE /v1/responses/{id}\` read and delete it, \`GET /v1/responses/{id}/input_items\` lists what it was made from. A key sees its own alone.

What cannot be honoured (built-in tools, \`background\`, \`conversation\`, …) is 400 naming the parameter; as nothing runs in the background, \`POST /v1/responses/{id}/cancel\` is 400 too. The stream has no \`[DONE]\`; a failure within it is \`response.failed\`.`,
  },
  {
    id: 'http-functions',
    title: 'Functions and thoughts of responses',
    keywords: 'v1 responses function_call_output tool picture input_image include encrypted_content reasoning stateless',
    text: `Over \`/v1/responses\` a model's function calls come back to you; an agent runs its own tools. A \`function_call_output\` is text, or a list of \`input_text\`, \`input_image\` and \`input_file\` with data URLs.

With \`include: ['reasoning.encrypted_content']\` thoughts carry what the model wants back with its calls, for programs that set \`store\` to false and send the items themselves.`,
  },
  {
    id: 'http-embeddings',
    title: 'Embeddings over HTTP',
    keywords: 'v1 embeddings vector openai google dimensions',
    text: `\`POST /v1/embeddings\` asks \`<provider>/<model_id>\` for vectors: any server of the OpenAI format, and Google.`,
  },
  {
    id: 'mcp-server',
    title: 'Perch as a tool server (MCP)',
    keywords: 'mcp model context protocol editor claude cursor tools server streamable http',
    text: `Any client of the Model Context Protocol reaches an agent's tools and files at \`http://127.0.0.1:7333/mcp\` (another agent: \`/mcp/<agentId>\`), by Streamable HTTP with the header \`Authorization: Bearer <token>\`; a key made in Settings → Keys will do. The tools are those that the agent may use, and the files of its workspace are resources.

What has an effect, such as running a program, waits until you have approved it in the app: a client cannot approve.`,
  },
  {
    id: 'http-errors',
    title: 'HTTP errors',
    keywords: 'status code 400 401 404 405 413 429 502 503 api failure json error object',
    text: `Errors are \`{"error": {"message", "type", …}}\`: 400 \`invalid_request_error\`, 401 \`unauthorized\`, 403 \`forbidden\`, 404 \`not_found\` or \`model_not_found\`, 405, 413 for a body over 20 MB, 429 \`rate_limited\`, 502 \`api_error\` when the provider failed, 503 \`unavailable\` when no gateway runs or a provider has failed too often. Every answer has \`x-request-id\`, your own if you sent one. In a stream that has begun, the error is an object in the stream, before \`[DONE]\`.`,
  },
  {
    id: 'websocket',
    title: 'The WebSocket protocol',
    keywords: 'ws rpc frames protocol 3 connect req res event socket client api seq',
    text: `Frames are JSON. On \`ws://127.0.0.1:7333/ws\` the first request must be \`connect\`:

\`\`\`json
{"type":"req","id":"1","method":"connect","params":{"minProtocol":3,"maxProtocol":3,"clientName":"mine","auth":{"token":"…"}}}
\`\`\`

Answers are \`{"type":"res","id","ok","payload"|"error"}\`, pushes are \`{"type":"event","event","seq","payload"}\`. Then call \`health\`, \`chat.send\`, \`chat.abort\`, \`chat.history\`, \`sessions.list\` and the others.`,
  },
  {
    id: 'chat-send',
    title: 'Sending a message over WebSocket',
    keywords: 'chat.send chat.delta chat.done chat.error stream events rpc idempotency attachments',
    text: `\`chat.send\` takes \`message\` and optionally \`sessionId\`, \`agentId\` (both default to \`main\`), \`model\`, \`provider\`, \`systemPrompt\`, \`attachments\`, \`abortPrevious\`, \`steer\`, \`temperature\` and \`idempotencyKey\`. The text arrives as \`chat.delta\` events, what the model thinks before it as \`chat.reasoning\`, tools as \`chat.tool_call\` and \`chat.tool_result\`; exactly one \`chat.done\` or \`chat.error\` ends the run, and the response comes then.`,
  },
  {
    id: 'chat-history',
    title: 'Reading history and sessions over WebSocket',
    keywords:
      'chat.history sessions.list sessions.preview sessions.delete sessions.reset sessions.rename sessions.pin sessions.archive sessions.move sessions.tag sessions.fork rpc path',
    text: `\`sessions.list\` lists sessions, the newest first, each with a \`path\` like \`main/main.jsonl\`. \`chat.history\` with a \`sessionId\` gives its messages (200 by default, up to 1,000, and \`before\` for the page above). \`sessions.preview\`, \`sessions.rename\`, \`sessions.pin\`, \`sessions.archive\`, \`sessions.move\` (into a \`folder\`), \`sessions.tag\`, \`sessions.fork\`, \`sessions.reset\` and \`sessions.delete\` take the \`path\`.`,
  },
  {
    id: 'session-export',
    title: 'Exporting and importing a chat over WebSocket',
    keywords: 'sessions.export sessions.import jsonl markdown download file save copy move',
    text: `\`sessions.export\` gives a session's text: JSON Lines with every branch (\`format: "jsonl"\`), or the active branch to read (\`"markdown"\`). A long one comes in parts: call again with the \`cursor\` of the answer until that is null. \`sessions.import\` makes a session of either; Markdown has no branches, times or files.`,
  },
  {
    id: 'backup',
    title: 'Backing up and restoring',
    keywords: 'back up backup export restore copy save disk archive zip lost recover',
    text: `The page **Backups** makes one, lists them, and shows what bringing one back would change before it does. So does the command line: \`npm run -s perch -- backup export\` writes everything that was acknowledged into a new file under \`backups/\` in Perch's home directory; no browser is needed, and the gateway may keep running. With \`--secrets\` the providers' keys are in it too, sealed under a passphrase. \`backup list\` checks each file, and \`backup restore FILE\` shows what it would change, asks, and then does all of it or nothing.`,
  },
  {
    id: 'devices',
    title: 'Several browsers, one vault',
    keywords:
      'devices sync device.browsers device.unlink unlink linked browser lost stolen second browser phone same data disk journal conflict changed in two places copy offline catch up evicted wiped',
    text: `Every browser that you link has the same chats, settings and memory, and the bridge keeps them on disk. A browser that was wiped fills itself again, one that was offline catches up. Where two changed the same thing apart, the later one is used and the other is put aside, also of a file in a workspace; what agents remember and the wiki's claims are merged by themselves, so something that you had one device forget may come back. **Devices and sync** shows what was put aside, and what is on disk and who is attached. Link another browser with \`npm run -s perch -- open\`. Each linked browser may do everything; **Devices and sync** (\`device.browsers\`) lists them, and there one's link is taken back (\`device.unlink\`).`,
  },
  {
    id: 'config-file',
    title: 'The configuration file',
    keywords: 'config.json file edit by hand settings json path where syntax error line column dotfiles',
    text: `With the bridge, all settings also stand in \`config.json\` in Perch's home directory, and you may edit them there: what you save is used within a few seconds, and what you change in the app appears in the file. Comments and the order of what you wrote stay. A file with an error changes nothing: \`config.file\` says what is wrong, with line and column, and what was good last stays in use. Where file and app changed the same setting apart, the file wins, and the other version is kept beside it as \`config.lost-….json\`. Keys that you type into the file are moved to the encrypted store, and \`***\` stands in their places.`,
  },
  {
    id: 'browser',
    title: 'Driving a browser',
    keywords: 'browser automation chromium open page click type fill screenshot scrape playwright headless tab profile navigate',
    text: `With the bridge attached, programs can drive a browser of its own: \`browser.open\` with \`{"url": "https://example.org"}\`, then \`browser.click\`, \`browser.type\`, \`browser.screenshot\`, \`browser.snapshot\` and \`browser.evaluate\`. Each profile (\`browser.createProfile\`) keeps its cookies and storage. It reaches the public internet; places on your own machine or network only where \`browser.allow\` in the configuration names them, such as \`localhost:5173\`.`,
  },
  {
    id: 'browser-agents',
    title: 'Agents in the browser: downloads and dialogs',
    keywords:
      'agent browser tool browser_open browser_click browser_type browser_snapshot browser_screenshot download dialog prompt confirm ref accessibility approve',
    text: `Agents have the same as tools (\`browser_open\`, \`browser_snapshot\`, \`browser_click\`, \`browser_type\`, \`browser_screenshot\` and more): you are asked before one opens an address, clicks or types. With \`{"mode": "accessibility"}\` a snapshot names each element by a ref such as \`s1e12\`, which \`browser.click\` and \`browser.type\` take in place of a CSS selector.

Files that a page has downloaded go into the agent’s workspace, under \`downloads/\`, up to 8 MiB; a program gets them by \`browser.download\`. Notices of pages are accepted and questions dismissed, unless \`browser.dialogs\` says otherwise; what was asked stands in the next result.`,
  },
  {
    id: 'browser-view',
    title: 'Watching a browser, and taking it over',
    keywords: 'live view screencast watch stream frames take over mouse keyboard captcha password help an agent remote control',
    text: `The page Browser shows the browser that agents drive as it changes. There you open, choose and close its tabs, take the wheel with mouse, keyboard or touch, give it back with Shift+Esc, and draw on what you see. For programs: \`browser.watch\` shows what a driven browser shows, as \`browser.frame\` events with JPEG pictures to the client that asked: the current tab, or the one that \`tabId\` names. Say \`browser.seen\` with the number of each frame, and the next one comes. \`browser.input\` does what you do with mouse and keyboard, such as \`{"type": "click", "x": 100, "y": 40}\` or \`{"type": "text", "text": "Perch"}\` (\`press\`, \`move\` and \`release\` drag), so that you can type a password yourself, or help an agent on; API keys and channels cannot. \`browser.unwatch\` ends it.`,
  },
  {
    id: 'browser-remote',
    title: 'Driving a browser on another machine',
    keywords: 'cdp endpoint remote chrome grid devtools debugging port browserless selenium',
    text: `Set \`browser.cdpEndpoint\` to the DevTools address of any Chrome or grid, such as \`http://nas.local:9222\` or \`wss://grid.example/?token=…\`: it is driven instead of one on the bridge's machine. The address is kept encrypted and reads as \`***\`. The profile \`default\` has the cookies that browser has; others have their own, until it is let go. Perch guards that browser less: addresses that are asked for are judged, but what pages there go to by themselves is up to that machine, and \`browser.status\` says \`remote\`. What a page there downloads comes here by a second request of that browser; what a page has made itself, or what is given only once, stays there, which is told.`,
  },
  {
    id: 'desktop',
    title: 'Pictures of the screen',
    keywords: 'desktop screenshot screen capture window display picture wayland x11 monitor desktop_screenshot',
    text: `With the bridge in a session with a screen, agents can take a picture of it (\`desktop_screenshot\`): you are asked each time, and the picture comes with the reply. \`desktop.windows\` lists displays and windows, one of which can be taken alone; under Wayland it is the whole desktop, which may ask you too. On macOS the program that starts the bridge wants the permission to record the screen. Programs use \`desktop.screenshot\`.`,
  },
  {
    id: 'channels',
    title: 'Channels beside the app',
    keywords: 'channel discord slack whatsapp signal matrix email social bot reach messenger connect channels.start channels.stop',
    text: `A channel is where people reach your agents beside the app. The page **Channels** sets them up, and says how each is. \`channels.catalog\` lists those that Perch knows, with what each platform allows and which can be started here: Telegram and X, with the bridge. \`channels.list\` shows those that run and those that are configured under \`channels\`. Tokens are kept encrypted and read as \`***\`. Runs that come from a channel get no tools, unless the channel's \`tools\` name them, and the guide quotes nothing of yours there.

\`channels.status\` says how a channel is: \`error\` comes with the problem, and it is tried again by itself; \`channels.start\` tries at once, \`channels.stop\` switches it off. What waits meanwhile is not lost, and nothing is answered twice.`,
  },
  {
    id: 'channel-telegram',
    title: 'Telegram',
    keywords: 'telegram botfather botToken bot chat group message allowedUsers /new /stop /start',
    text: `Set the entry \`telegram\` of \`channels\` by \`config.set\`, with the token that BotFather gave: \`{"enabled": true, "botToken": "…", "allowedUsers": ["you"]}\`. Nobody in \`allowedUsers\` means that everybody may write, at your model's cost.

Each person has a session of their own, and each group, where the bot answers when it is spoken to. \`/new\` begins another one, \`/stop\` ends an answer that is under way. \`agentId\` says which agent answers, and \`bindings\` with a pattern such as \`telegram:ada\` says it for one person.`,
  },
  {
    id: 'channel-x',
    title: 'X: mentions and direct messages',
    keywords:
      'x twitter tweet post mention direct message dm bearer token oauth pkce authorize channels.authorize client id budget searches limit poll thread reply',
    text: `The entry \`x\` of \`channels\`, with \`enabled\`, \`bearerToken\` and \`socialUsername\`, answers mentions in threads of posts. A bearer token of an app only reads: to post, and for direct messages (\`monitorDMs\`), the account has to allow it. Set \`clientId\` (and \`clientSecret\`, if there is one), register Perch's address with \`/oauth/callback\` at X, call \`channels.authorize\` and open what it gives.

Mentions may be looked for 3,000 times a month (\`searchesPerMonth\`): spread over what is left of it, as close as \`pollIntervalSeconds\` while somebody is writing. \`channels.status\` shows the \`budget\`. What was said before the channel was switched on is not answered.`,
  },
  {
    id: 'speech',
    title: 'Reading aloud',
    keywords: 'speech tts voice speak read aloud audio mp3 espeak',
    text: `\`tts.speak\` turns text into MP3, through the bridge: with the network's neural voices, or with the system's own speech engine where there is no network (\`voice\` in the answer says who spoke). \`tts.voices\` lists them. On Debian, \`apt-get install espeak-ng\` gives a voice that works offline.`,
  },
  {
    id: 'pairing',
    title: 'Pairing a phone or a program',
    keywords:
      'device.initiate device.complete device.list device.revoke pair pairing code device token phone watch script program scope scopes rights read write admin lost stolen access deviceToken pairingCode public key signature',
    text: `A paired device has a token of its own, with fewer rights than yours, which you can take back. \`device.initiate\` with a \`deviceName\` (and \`scopes\`: \`read\`, \`write\`, \`admin\`; the first two by default) gives a code of 8 characters, good once and for 5 minutes.

The device connects with \`auth: {pairingCode}\` and calls \`device.complete\` with the \`code\` and a \`response\`: its public key (Ed25519 or P-256, as SPKI) and its signature over the code, both in base64url with a dot between. The answer has its \`deviceToken\`, shown once. From then on it connects with \`auth: {deviceToken}\`, or sends it as the bearer token to \`/v1\`.

\`device.list\` shows who is paired, connected, and was last seen when; so does **Devices and sync**. For a phone's browser see **Reaching Perch from other machines**. \`device.revoke\` with the \`deviceId\` voids its token and ends what it has open or asked for.`,
  },
  {
    id: 'usage',
    title: 'Tokens and cost',
    keywords: 'usage.get usage.daily usage.hourly spent money price statistics calls provider model',
    text: `\`usage.get\` sums calls, tokens and cost of the last \`days\` (7 by default, up to 365), by provider and model too. \`usage.daily\` has a line for each day, \`usage.hourly\` the calls in each hour of the day, by the time zone in \`chat.timeZone\`.`,
  },
  {
    id: 'sessions',
    title: 'Chats and sessions',
    keywords: 'new conversation rename delete list switch history thread many pin archive folder tag organise',
    text: `Each chat is a *session*. A new one is made by your first message in it, and its title comes from that message; you can rename, pin, archive or delete it in the list of chats, and give it a folder and tags. The list goes by date or [by folder](/settings#appearance). The page [Chats](/sessions) has all of them in a table, several to be changed, saved or deleted at once. Sessions live in the gateway, so two tabs show the same ones, in step, and they are there after a reload.`,
  },
  {
    id: 'import',
    title: 'Bringing in chats from ChatGPT, Open WebUI or LibreChat',
    keywords: 'import migrate move chatgpt openai openwebui librechat conversations.json export history take over save markdown',
    text: `On the page [Chats](/sessions) choose *Import…* and give it the file: ChatGPT's \`conversations.json\` or the zip that it came in, an export of Open WebUI or of one LibreChat conversation, or what Perch has saved as JSON Lines. Branches, times and models come along, pictures do not. The same file again brings in nothing twice. To save chats choose them there, and *Markdown* or *JSON Lines*.`,
  },
  {
    id: 'stop',
    title: 'Stopping a reply',
    keywords: 'abort cancel halt interrupt esc button generation chat.abort',
    text: `Press **Esc** or the stop button. The model's request is cancelled at once, tools under way are told to stop, and what had come so far is kept and marked as stopped. Over WebSocket it is \`chat.abort\` with the \`sessionId\`.

Closing the tab or the connection does not stop a reply when the gateway runs elsewhere: it belongs to the session and goes on.`,
  },
  {
    id: 'edit-retry',
    title: 'Editing and retrying',
    keywords: 'regenerate resend again branch change message redo chat.edit chat.resend chat.branch earlier version switch alternative',
    text: `Retry answers your last message again, edit changes that message and answers anew. The earlier version is kept as a branch of the chat, not overwritten: where there are several, **‹ 1/2 ›** at the message pages through them, and the chat goes on from the one that is shown. Over WebSocket these are \`chat.resend\`, \`chat.edit\` and \`chat.branch\`; \`chat.history\` names the \`versions\`.`,
  },
  {
    id: 'queue',
    title: 'Several messages at once',
    keywords: 'queue busy wait parallel concurrent while running abortPrevious order steer steering interrupt now edit reorder take back',
    text: `A session answers one message at a time. A message sent meanwhile waits for its turn above the message field, in order: there it can be edited, removed, moved to the front, or sent now. *Send now* (Ctrl+Enter or Cmd+Enter while writing) steers: tools that are running end first and their results are kept, text that is being written stops where it is, and the agent goes on with your message. Stop holds back what waits. Over WebSocket: \`chat.send\` with \`steer: true\`; with \`abortPrevious: true\` everything of the reply under way is stopped first; \`chat.abort\` with \`sentWith\` (the message's \`idempotencyKey\`) takes back one that waits. Different sessions run side by side.`,
  },
  {
    id: 'interrupted',
    title: 'An interrupted reply',
    keywords: 'crash closed browser died lost partial restart resume broken off killed',
    text: `If the browser or the machine goes down while a reply is written, the text so far is kept and marked as interrupted, and you can send the message again. Your own messages and finished replies are on disk before they are acknowledged, so they are not lost.`,
  },
  {
    id: 'provider-failure',
    title: 'When a provider fails',
    keywords: 'error timeout silent stalled broke off rate limit retry 429 500 cut garbage',
    text: `Before the first word, Perch tries again twice after rate limits, server errors and network failures, and waits as long as the provider asks, up to a minute. Then the next model of the fallbacks takes over, where there are any. A provider that sends nothing for 60 seconds, breaks off or sends something unreadable ends the reply with an error that says so. What had come is kept, and you can retry.

A server that fails five times in a row is not asked for 30 seconds; then one request tries it. Over HTTP that is 503 with \`Retry-After\`. **Try now** in the settings asks it at once. The setting \`gateway.upstream\` (**Slow and failing servers**) changes how long servers are waited for, in milliseconds (\`firstByteMs\`, \`wholeMs\` for answers that do not stream, \`idleMs\`), and when they are left alone (\`failures\`, 0 for never, and \`pauseMs\`).`,
  },
  {
    id: 'offline',
    title: 'Working offline',
    keywords: 'no internet network bridge stopped airplane pwa cache without connection',
    text: `Once opened, the app itself is stored by the browser and opens without network and without the bridge. The guide, your chats and the tools work offline; so does a model server on this machine that allows calls from the app.

While the bridge hosts the gateway, chats are kept in its managed browser; a tab on its own, without the bridge, keeps its chats in your browser. These two are not merged yet.`,
  },
  {
    id: 'install-app',
    title: 'Installing the app',
    keywords: 'pwa progressive web desktop home screen icon install standalone',
    text: `Perch is a progressive web app: use your browser's "Install" entry in the address bar or menu, and it opens in a window of its own. It is the same app with the same data as in the tab of that browser.`,
  },
  {
    id: 'update',
    title: 'Updates of the app',
    keywords: 'new version upgrade reload prompt release refresh stale build',
    text: `When a newer build is served, the app asks before it switches. Accepting reloads all its tabs together; the gateway first finishes the replies under way (up to 30 seconds) and hands its data over to the new build. It waits while an incognito chat is open in any tab, which the reload would lose.`,
  },
  {
    id: 'privacy',
    title: 'Where your data is, and who sees it',
    keywords: 'privacy data storage location indexeddb local security telemetry cloud safe account track stored',
    text: `Chats, memories and settings are in the browser's own database (IndexedDB) on this machine: in your browser, or in the bridge's managed browser when that hosts the gateway. There is no account and no server of ours.

What you write to a model goes to the provider of that model and nowhere else. With the guide or a local server, nothing leaves the machine.`,
  },
  {
    id: 'secrets',
    title: 'How API keys are kept',
    keywords: 'secret key encrypted safe password store security stars ***',
    text: `Keys are encrypted in the browser's database, with a key that cannot be exported from it. They are sent only to the provider they belong to, and read as \`***\` in the settings and over the API. Writing \`***\` back keeps the stored key. When a provider's address changes to another server, the key has to be given again: it is never sent there by itself.

With a bridge, the key that seals them lies in \`vault.key\` in Perch's home directory, for you alone. \`perch secrets keyring on\` moves it into the system's keyring; Perch then starts only while that is unlocked, so leave it in the file where it starts unattended. \`perch secrets keyring off\` moves it back.`,
  },
  {
    id: 'secret-references',
    title: 'Keys from the environment or a file',
    keywords: 'env environment variable secrets.env dotenv reference secrets.reload rotate key file outside vault',
    text: `In the place of a key you can write a reference, such as \`\${OPENAI_API_KEY}\`: in Models → Providers, by \`config.set\`, or in \`config.json\`; for the tokens of channels too. The bridge then looks for that name in the environment it was started from, and in the file \`secrets.env\` in Perch's home directory, line by line \`NAME=value\`, and then in the system's keyring, for the service \`perch\` and the name as the account. The value is kept in memory alone: the configuration, backups and other devices have the reference.

\`secrets.env\` is only used while it is yours alone (\`chmod 600\`). After a change call \`secrets.reload\`, or start the bridge again. A name without a value is told by the error of the request and by the doctor. Names that begin with \`PERCH_\` cannot be referred to. \`perch secrets set NAME\` puts one there.`,
  },
  {
    id: 'memory',
    title: 'Letting Perch remember',
    keywords: 'remember memory forget fact note preference recall store save personal learn',
    text: `Say "remember that …" to the guide, and it stores the fact. Models with tools do the same, by \`memory_add\`, \`memory_search\`, \`memory_update_preference\`, \`memory_stats\` and \`memory_forget\`. What is remembered is the file \`MEMORY.md\` in the agent's workspace, a line each, which you can edit; agents with one \`workspace\` have one memory. Notes of a day are \`memory/2026-11-22.md\`. With \`daily_summaries\` on (\`{"enabled": true}\`, settings, section \`memory\`) the agent’s model sums up each day there.

Searching also finds what was said in the last month, in whatever words, and says why. Programs use \`memory.search\`, \`memory.list\`, \`memory.add\`, \`memory.update\`, \`memory.forget\`, \`memory.days\`. The setting \`memory.embeddings\` names a model that finds by meaning too; what is remembered is sent to it. By hand: \`/tool memory_search {"query": "…"}\`.`,
  },
  {
    id: 'memory-page',
    title: 'The page Memory',
    keywords:
      'memory page see list what is remembered edit change delete forget undo timeline days preferences remembered things line under reply',
    text: `**Memory**, below the list of chats, shows what an agent remembers. Search it in your own words: each result says why it was found, has what was said beside it, and opens in its chat. *Memories* lists it by category; each can be edited, or forgotten and put back. *Preferences* are those with a name. *Days* shows how much was noted and said, with the notes of each day; **Summarise this day** writes them. *Recalled* is what replies were told, with the question.

In a chat, **Remembered one thing** above a reply opens to the same: **Forget this** takes it out of memory, **Not in this chat** switches recall off there, as does the menu of the chat in the list.`,
  },
  {
    id: 'active-recall',
    title: 'What a model is told from memory',
    keywords: 'active memory recall remembered before reply context automatic switch off on session style mode privacy',
    text: `Before a model replies, Perch looks for what it remembers that bears on your message, and puts that in front of it, marked as data. Your message is kept without it; the reply has it under \`recalled\`, with the reasons. Nothing is told on channels, to \`/v1\` without a session, or to an agent with \`memory: false\` or without \`memory_search\`. The guide looks by itself.

\`sessions.setRecall\` switches it off in one session, in a terminal \`active-memory off --session main/main\`; \`sessions.recall\` says how it stands. The setting \`memory.recall\` has \`enabled\` for all, \`query_mode\` (\`MESSAGE\`, \`RECENT\`, \`FULL\`), \`prompt_style\` (\`BALANCED\`, \`STRICT\`, \`CONTEXTUAL\`, \`RECALL_HEAVY\`, \`PRECISION_HEAVY\`, \`PREFERENCE_ONLY\`), \`max_summary_chars\` and more.`,
  },
  {
    id: 'compaction',
    title: 'Long chats: what is summarised for the model',
    keywords:
      'long conversation chat context window full limit compact compaction summary summarise summarize tokens shorten earlier messages',
    text: `A model reads only so much at once. When a chat comes near that, the earlier messages are summarised for the model, by the model itself; the newest stay word for word. Nothing is deleted: all messages stay in the chat and in search, and a line shows where it happened, which opens to the summary. What is worth it is remembered first. Where no summary can be made, nothing is dropped, and it is tried again later.

By hand: “Summarise for the model” in the menu of a chat in the list, or \`sessions.compact\` with \`agentId\` and \`sessionId\`. Settings: \`memory.compaction\` with \`enabled\`, \`max_tokens\`, \`reserve_ratio\`, \`min_messages_to_compact\`, \`compaction_threshold\`; \`memory.summary\` with \`enabled\`, \`model\`, \`max_summary_tokens\`, \`async_mode\`. Tokens are counted as OpenAI's models do for those, and by measured estimates for others.`,
  },
  {
    id: 'tools',
    title: 'Tools, and running one by hand',
    keywords: '/tool /tools command slash function call json run execute catalog',
    text: `Tools are what agents can do beside talking. With the guide you run one by \`/tool <name> {json}\`, for instance \`/tool docs_search {"query": "offline"}\` or \`/tool current_time\`. \`/tools\` lists them. Models that support tools call them on their own.

The page Tools lists them by where they come from, says of each whether you are asked first, and runs one from a form. Over WebSocket, \`tools.list\` gives the names, \`tools.catalog\` the JSON Schemas, and \`tools.run\` runs one; \`tools.cancel\` ends such a call.`,
  },
  {
    id: 'tool-servers',
    title: 'Tool servers (MCP)',
    keywords:
      'mcp model context protocol mcpServers server plugin extension stdio npx sse streamable connect external tools approve command authorize oauth login permission mcp:',
    text: `Other programs lend agents their tools by the Model Context Protocol. Name them in \`tools.mcpServers\` of \`config.json\`: a program by \`command\` and \`args\` (also \`env\`, \`cwd\`), or an address by \`url\` and \`headers\`, with \`"transport": "sse"\` for the earlier form. Values of \`env\` and \`headers\` are secrets. A command typed into the file starts; one set over the API waits until a person approves exactly it (\`mcp.approve\`). On Windows \`npx\` is run by \`cmd\` with \`/c\`.

Their tools are called \`mcp:<server>:<tool>\`. Each call waits for your word, unless \`tools.policies\` says otherwise (\`"mcp:files:*": "auto"\`). A tool whose description has changed is off until you approve it again. \`mcp.list\` and \`perch mcp status\` tell how it stands, \`mcp.logs\` what a server wrote, \`perch mcp list-tools\` what there is.`,
  },
  {
    id: 'tool-server-permission',
    title: 'Tool servers that ask for permission (OAuth)',
    keywords: 'mcp oauth authorize unauthorized login permission sign in scopes callback redirect tool server link clientId',
    text: `A tool server over HTTP may want your permission: it is \`unauthorized\` until you have followed the link that \`perch mcp authorize <name>\` prints (\`mcp.authorize\`), in a browser of the machine that Perch runs on. Where its service does not register programs by itself, give \`oauth.clientId\` (and \`oauth.clientSecret\`, \`oauth.scopes\`) of what you registered there, with \`http://127.0.0.1:7333/oauth/callback\` as redirect address.`,
  },
  {
    id: 'search-chats',
    title: 'Finding something in earlier chats',
    keywords: 'search find history past messages earlier session_search sessions.search look up old conversation index phrase',
    text: `Ask the guide with the words that you remember: it looks through the messages of all chats and quotes them with chat and date. By hand it is \`/tool session_search {"query": "…"}\`. A program calls \`sessions.search\` with a \`query\`: it finds the chats with all of the words in one message or in the title, the last word perhaps unfinished, "words in quotes" as they stand; \`agentId\`, \`folder\`, \`tag\`, \`archived\` narrow it.`,
  },
  {
    id: 'agents',
    title: 'Agents',
    keywords:
      'agent main several configure agentId agents.list agents.add agents.remove agents.bindings persona assistant own model prompt tools allow deny memory workspace',
    text: `An agent is a name with a model, a system prompt and a temperature; \`main\` is always there. The page **Agents** makes, changes and removes them, and begins a chat with one. \`agents.add\` with an \`agent_id\` and a \`config\` makes an agent of your own: its \`name\`, \`model\`, \`systemPrompt\`, \`temperature\`, the \`workspace\` of its files, and under \`tools\` what it is allowed (\`allow\`, \`deny\`, names with \`*\`). \`memory: false\` leaves out the tools that remember. \`agents.list\` lists them, \`agents.remove\` removes one; its chats stay. Send to one with \`agentId\`, or over HTTP as the model \`perch/<agent_id>\`.`,
  },
  {
    id: 'workspace',
    title: 'Files that agents work with',
    keywords: 'workspace folder file write read list remove store document agent path send_file download upload limit size',
    text: `Each agent has a workspace: files that it lists, reads, writes and removes by \`file_list\`, \`file_read\`, \`file_write\` and \`file_remove\`, and nothing outside. It is named after the agent, unless its configuration has a \`workspace\`. To remove one, and to write a skill, it waits for your word. By \`send_file\` an agent hands you a file; it stands below the reply, and a click saves it.

Programs use \`workspace.list\`, \`workspace.read\`, \`workspace.write\` and \`workspace.remove\`. A file may have 8 MiB, a workspace 256 MiB and 10,000 files.`,
  },
  {
    id: 'workspace-folder',
    title: 'A workspace as a folder on disk',
    keywords:
      'workspace folder mirror mirrored disk sync two-way conflict copy lost gone stopped workspace.mirrors workspace.resume workspaces.mirror',
    text: `With a bridge each workspace also lies in a folder of its machine: \`workspaces/<name>\` beside \`config.json\`. What you save there is in the workspace a moment later, and the other way round. Where both sides have changed a file your version stays, and the other is kept beside it as \`name (conflict 2026-11-22 0930).md\`. A folder that vanishes, or loses more than half of its files at once, deletes nothing: the mirror stops until the files are back, or until \`workspace.resume\` says what is meant. Links, \`.git\`, \`node_modules\` and \`memory.db\` are left alone; \`workspace.mirrors\` tells of what else is. The setting \`workspaces.mirror\`, set to false, turns it off.`,
  },
  {
    id: 'plans',
    title: 'Plans',
    keywords: 'plan step goal task list todo resume paused interrupted continue multi-step follow',
    text: `For work of several steps an agent makes a plan by \`plan_create\` and keeps it up to date by \`plan_update\`; one step is running at a time. When its run ends before the plan is done, or the host dies, the plan is paused where it was, and \`plan.resume\` has the agent go on at that very step. The page **Plans** shows them, with a button for that. \`plan.list\` and \`plan.get\` show plans, \`plan.delete\` deletes one.`,
  },
  {
    id: 'drawings',
    title: 'Drawings',
    keywords: 'drawing draw canvas annotate annotation screenshot sketch shape redaction marker arrow together live picture',
    text: `Drawings and annotated pictures are kept with everything else, and drawn on together: tabs, devices and agents see each other's strokes. An agent lists and reads them by \`canvas_open\`, draws by \`canvas_draw\`, and looks at one by \`canvas_capture\`. It is told and shown nothing of what lies under a redaction, and cannot take one away. Before it changes what you drew you are asked.

Programs use \`drawings.list\`, \`drawings.create\`, \`drawings.open\`, \`drawings.change\`, \`drawings.close\`, \`drawings.rename\`, \`drawings.delete\`; \`drawings.draft\` shows others a stroke before it is done.`,
  },
  {
    id: 'skills',
    title: 'Skills',
    keywords: 'skill SKILL.md instructions agent skills folder install add missing requirement invalid front matter yaml',
    text: `A skill is a folder with a \`SKILL.md\` in the open Agent Skills format: YAML front matter with \`name\` and \`description\`, then instructions. Put it into an agent's workspace as \`skills/<name>/SKILL.md\`, or into the folder \`skills\` of the bridge's directory for all agents. Agents are told name and description, and read the rest by \`skill_read\` when a task fits; nothing in a skill is executed, and it gives no rights. In a chat \`/\` lists them beside the prompts: a message that begins with \`/name\` is answered by that skill, unless its front matter says \`user-invocable: false\`. The page **Skills**, and \`skills.list\`, name them all, with programs, variables or the system (\`os\`) that are missing and what is wrong with one.`,
  },
  {
    id: 'schedules',
    title: 'Scheduled jobs',
    keywords:
      'cron schedule scheduled job timer reminder remind every day daily morning hourly weekly recurring later time zone tick missed catch up cron_add cron_list cron_remove',
    text: `A job tells an agent something at set times. \`cron.add\` takes a \`message\` and \`cron\`, five fields such as \`0 9 * * MON-FRI\`, or a \`schedule\`: \`{kind: "cron", expr, tz?}\`, \`{kind: "every", everyMs}\` (a minute or more), \`{kind: "at", at}\`. \`sessionTarget\` says where it speaks: \`main\`, or \`isolated\`, a chat for each run. Agents use \`cron_add\`, \`cron_list\`, \`cron_remove\`.

\`cron.list\`, \`cron.update\`, \`cron.toggle\`, \`cron.remove\`, \`cron.run\` (now), \`cron.history\`. Ticks missed while nothing ran are skipped, or run once with \`catchUp\`. Where clocks change, \`30 2 * * *\` still runs once that day. After failures a job rests longer and longer.`,
  },
  {
    id: 'dreaming',
    title: 'Dreaming: what is remembered for long',
    keywords:
      'dream dreaming consolidate consolidation long-term memory MEMORY.md DREAMS.md promote promotion signals score proposal review accept reject narrative light REM deep night sleep',
    text: `Dreaming looks at what came up in chats and notes, and what was recalled for you, and proposes what should be remembered for long. It has three parts: *light* collects signals, *REM* reflects on them, *deep* scores them and proposes the best. On the page **Dreaming** you remember, edit or reject each; nothing is kept before that, unless \`promotion\` in the section \`dreaming\` of the settings is \`promote\`.

It is off until you switch its schedule on; "Dream now" always works. A time that nobody was there for is made up for on return. Programs use \`dreaming.status\`, \`dreaming.signals\`, \`dreaming.run\`, \`dreaming.review\`, \`dreaming.history\` and \`dreaming.report\`; \`dreaming.accept\`, \`dreaming.reject\` and \`dreaming.restore\` are for persons.`,
  },
  {
    id: 'heartbeat',
    title: 'System events and the heartbeat',
    keywords:
      'system.event system.heartbeat.last heartbeat wake notify webhook event tell agent proactive next-heartbeat check in regularly',
    text: `\`system.event\` tells the main session something: with \`mode\` \`now\` the agent answers at once, else it learns of it with its next message.

The heartbeat is off until you set \`heartbeat.enabled\`. Every \`heartbeat.everyMs\` (a minute or more, half an hour by default) the agent then looks at what waits; where nothing does, no model is called, unless \`heartbeat.message\` gives it something to do. \`heartbeat.agentId\` chooses another agent than \`main\`. \`system.heartbeat.last\` says when it last beat.`,
  },
  {
    id: 'commands',
    title: 'Running commands',
    keywords:
      'exec shell terminal program run execute exec.create exec.approve exec.deny exec.cancel exec.get exec.list exec.policies exec.forget tools.exec_approve output working directory risk always policy',
    text: `With the bridge attached, a program on its machine can be run: by an agent with the tool \`exec\`, or with \`exec.create {"command", "args", "workingDir"}\`. Nothing runs before a person says so with \`exec.approve\`, within five minutes; \`always\` lets exactly this command run from then on (\`exec.policies\` lists such, \`exec.forget\` takes one back). \`exec.deny\` denies, \`exec.cancel\` withdraws or ends it with all its processes.

There is no shell: each argument reaches the program as it is. The approval is bound to the program's file, arguments, directory and environment; if one has changed since, it is refused. Output beyond 1 MiB is dropped. The time limit is \`tools.execTimeoutMs\`, ten minutes by default. A command has the rights of whoever started the bridge; the risk shown is a hint, no promise.`,
  },
  {
    id: 'approvals',
    title: 'Approvals',
    keywords:
      'approve deny allow permission ask confirm tool approvals.list approvals.resolve tools.policies auto ask deny policy always api key',
    text: `A tool with an effect on something outside Perch waits for a person. \`approvals.list\` shows what waits, commands too; \`approvals.resolve\` with \`decision\` \`approve\` or \`deny\` answers, and with \`always\` for good. After five minutes without an answer the call is denied, and the agent is told. Under \`tools.policies\` each tool, by its name or a pattern with \`*\`, can be set to \`auto\`, \`ask\` or \`deny\`.

Only the owner, the app and paired devices can approve or change that: API keys and channels cannot.`,
  },
  {
    id: 'configuration',
    title: 'Configuration over the API',
    keywords: 'config.get config.set config.patch settings json file hash key dotted',
    text: `\`config.get\` reads the whole configuration or one dotted key, \`config.set\` changes one entry, \`config.patch\` merges a JSON merge patch, where null deletes. A change is checked as a whole before anything is stored. For instance, a provider: \`config.set\` with key \`providers.mine\` and value \`{"baseUrl": "http://127.0.0.1:9000/v1"}\`.`,
  },
  {
    id: 'attachments',
    title: 'Attachments',
    keywords: 'file image picture upload photo document size limit vision paste drop',
    text: `A message may carry files: 16 MB each, images 6 MB, 18 MB together. Pictures go to models that see; of text files the first 50,000 characters are sent along, of others the name. Models with tools read the rest, and PDF and Office files, by themselves. One that is too large or cannot be decoded is refused, never dropped in silence.

The guide reads a file when you tell it to: \`/tool read_pdf {}\`.`,
  },
  {
    id: 'documents',
    title: 'Reading PDF, Word, Excel and PowerPoint files',
    keywords:
      'document pdf docx xlsx pptx word excel powerpoint office spreadsheet sheet table slides presentation csv scan password read_text extract',
    text: `Attach the file, or put it into the agent's workspace; models with tools then read it. By hand: \`/tool read_pdf {"pages": "1-5"}\`, \`/tool read_docx {}\`, \`/tool read_xlsx {"sheet": "Sales", "range": "B2:F40"}\`, \`/tool read_pptx {}\`, and \`/tool read_text {}\` for plain text, CSV and HTML. Each takes \`attachment\` (a file's name in this chat; the newest where left out) or \`path\` (in the workspace). A result has 50,000 characters at most and says with what to go on.

Everything is read on this device. What cannot be read is said: files with a password, of Office before 2007, damaged ones, and scans, which are pictures of text.`,
  },
  {
    id: 'web-pages',
    title: 'Fetching web pages',
    keywords: 'web_fetch url http https website page browse internet download link ssrf private address allow',
    text: `\`web_fetch\` gets a page, PDF or text from the public web and gives its text; by hand \`/tool web_fetch {"url": "https://example.com"}\`. It goes through the bridge, with at most 5 MB, 30 seconds and 5 redirects.

Addresses of this machine and of private networks are refused, wherever a name or a redirect leads. To let it ask one, name it in the configuration, under \`tools\`: \`{"webFetch": {"allow": ["nas.local", "127.0.0.1:8080"]}}\`. What a page says is given to the model as data, never as instructions. It waits for your word each time, unless you choose **Always**: what is in an address leaves the machine with it.`,
  },
  {
    id: 'keyboard',
    title: 'Keyboard',
    keywords: 'shortcut key enter newline hotkey esc rebind change keys switch off',
    text: `**Enter** sends, **Shift+Enter** starts a new line. **Esc** stops the reply under way. **Ctrl+/** (Cmd on a Mac) lists all shortcuts; [Settings](/settings#keyboard) gives each of them other keys, or none.`,
  },
  {
    id: 'connection',
    title: 'The connection pill',
    keywords: 'disconnected reconnect offline amber status retry connection lost gateway indicator',
    text: `The pill shows how the page reaches the gateway. When the connection is lost it tries again by itself, with growing pauses, and you can retry at once. After reconnecting, the page reads what it missed, and a reply that went on meanwhile continues to stream.`,
  },
  {
    id: 'port-taken',
    title: 'The port is taken',
    keywords: 'EADDRINUSE address in use 7333 another port already running bind --port',
    text: `If something else listens on port 7333, the bridge says what holds it and stops; it never moves to another port by itself, as another address would be another database for the browser. Stop the other program, or choose one with \`perch gateway run --port <n>\` (in a checkout \`npm start -- --port <n>\`).`,
  },
  {
    id: 'expose',
    title: 'Reaching Perch from other machines',
    keywords: 'lan network remote bind expose 0.0.0.0 phone server public access https tls certificate key mkcert qr',
    text: `By default the bridge listens on this machine only. A \`--bind\` to another address is refused unless you also pass \`--expose\`, as whoever has the token could then use your gateway from the network. What is served there is the API alone, unencrypted.

With a certificate, \`--tls-cert\` and \`--tls-key\` (PEM files), other machines are served over HTTPS alone, and the app too: \`npm run -s perch -- open --qr\` prints a link that a phone's camera opens. The phone must trust the certificate, which must be for the name or address that it asks for (mkcert makes such ones); a new one in the same files is taken up within the hour. This machine's app stays at \`http://127.0.0.1:7333\`.`,
  },
  {
    id: 'discover',
    title: 'Finding gateways on the network',
    keywords: 'mdns bonjour zeroconf avahi discover advertise beacon scan lan find gateway other machine',
    text: `\`npm run -s perch -- gateway discover\` looks for two seconds, or \`--timeout\` milliseconds: on the ports of this machine, and for gateways that are advertised on its network. \`--scan\` also asks each address of the private network that this machine is in, and \`--json\` prints \`beacons\`. What it finds is what others say of themselves: nothing is sent to them but the question.

A gateway is advertised by multicast DNS only when it is started with \`--advertise\`, and only where others can reach it: with \`--bind\` and \`--expose\`.`,
  },
  {
    id: 'service',
    title: 'Starting Perch with the machine',
    keywords: 'service daemon autostart boot login background systemd launchd agent windows task scheduler install uninstall',
    text: `\`npm run -s perch -- gateway install\` makes the gateway a service of yours that starts when you log in: a user unit of systemd, an agent of launchd, or a task of Windows. It takes \`--port\`, \`--bind\`, \`--host\`, \`--expose\` and \`--advertise\` as \`gateway run\` does, and waits until the gateway answers; \`--dry-run\` only prints what it would do. Run it again to change the options, or once the checkout has been moved. \`npm run -s perch -- gateway uninstall\` takes the service away; chats and settings stay.

No secret is written into the service: it goes by the token file, and by \`PERCH_HOME\` as it was set. On Linux it ends when you log out, unless \`loginctl enable-linger\` lets it go on.`,
  },
  {
    id: 'terminal',
    title: 'Chatting in a terminal, and more commands there',
    keywords: 'command line cli shell console sessions logs status probe call completion bash zsh fish pipe json url',
    text: `While the gateway runs, behind \`perch\` (in a checkout \`npm run -s perch --\`):

- \`chat\` is a conversation: Ctrl+C ends a reply, twice or Ctrl+D leaves. \`chat how are you\`, or a pipe, gets one reply. \`--session\`, \`--agent\` and \`--model\` say where and who.
- \`sessions\` lists what was talked about, \`sessions export main/main\` writes one, \`logs -f\` prints the log as it grows.
- \`gateway status\` and \`gateway probe\` tell whether it can be reached; \`gateway call METHOD --params '{…}'\` calls any method.
- \`completion bash\` (or zsh, fish) prints a script that completes all this.

\`--json\` prints JSON. \`--url\` names a gateway elsewhere, which must be given \`--token\` or \`--password\`: what is kept here is never sent to another machine.`,
  },
  {
    id: 'doctor',
    title: 'Finding out what is wrong: the doctor',
    keywords: 'diagnose diagnostics doctor.run health check fault problem broken repair fix perch doctor',
    text: `\`perch doctor\` (in a checkout \`npm run -s perch -- doctor\`) looks for faults in the running gateway, and says what to do about each: storage that the browser may delete or that is full, clocks that differ, a provider that wants a key or cannot be reached, files that others can read, no browser to host the gateway, builds that differ, a journal that is away or whose disk is full, versions put aside, keys that cannot be read, settings that do not fit, and names in them that nothing knows. Over the API it is \`doctor.run\`; \`--json\` prints the same.

\`system.presence\` tells which parts are there, \`system.info\` what they run on, \`web.status\` whether a tab is open, and \`update.check\` whether there is a newer version.`,
  },
  {
    id: 'logs',
    title: 'Logs',
    keywords: 'log lines tail logs.tail system.logs level debug history errors id what happened secret redacted',
    text: `The gateway notes what is worth knowing: starts, connections that were refused, replies that failed, providers that come and go, which settings were changed, errors under the id that their message shows, and failed requests to \`/v1\` under the \`x-request-id\` of their answer. \`logs.tail\` gives the newest lines, the bridge's own among them, as text or with \`json: true\` as objects; its \`cursor\` reads on from there, its \`before\` back. \`system.logs\` gives those of a \`level\` and graver ones.

Secrets are taken out before anything is written. The newest 10,000 lines are kept, in this browser alone. The setting \`gateway.logLevel\` (\`debug\`, \`info\`, \`warn\`, \`error\`) says what is noted.`,
  },
  {
    id: 'no-answer',
    title: 'Troubleshooting',
    keywords: 'problem broken help not working fix stuck nothing happens debug',
    text: `- **No answer from a model:** Models → Providers shows each provider's state and its last error.
- **401 over HTTP or AUTH_REQUIRED:** the token is missing or wrong.
- **503 or close code 1013:** no gateway runs; open the app (\`--host tab\`) or let the bridge start its browser.
- **Storage is full:** delete chats or free disk space; nothing half-written is kept.`,
  },
  {
    id: 'wiki',
    title: 'The wiki',
    keywords: 'wiki page knowledge claim evidence contradiction obsidian markdown graph links notes source',
    text: `**Wiki**, beside Settings, keeps Markdown pages that link to each other as \`[[Page]]\`, and claims with the evidence they rest on. Claims that cannot both be so are shown side by side: put a newer one in the place of the wrong one, refute it, or keep both and say why. Nothing of a claim's history is lost.

Agents use it by \`wiki_search\`, \`wiki_read\`, \`wiki_write\` and \`wiki_claim\`; to change what a page says they ask you. Programs have \`wiki.pages\` and its kin, and the pages at \`/mcp\`. It lies in the folder \`wiki\` of the agent's workspace; with a bridge, Obsidian opens it.`,
  },
];
