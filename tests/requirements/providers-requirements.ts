import { chosenSection, specifiedSection } from './requirement.ts';

/** Sources of models, and their cost. */
export const providers = [
  specifiedSection('interface 1, section 2.2', {
    'models.list/limits-and-prices':
      'A model’s `max_tokens`, `context_window` and costs are what its server lists, else the table’s, else null.',
  }),
  chosenSection('decisions, "Sessions, agents, models, channels, config"', {
    'models.catalog/kinds':
      '`models.catalog` lists the kinds of providers that can be configured, with address and whether they want a key.',
    'models.providers/states': 'A provider of any kind is ready, needs a key (it has none, or it was refused), or is unreachable.',
    'models.providers/resting': 'A provider whose server is left alone says until when, and after how many failures.',
    'models.probe/resting': '`models.probe` asks a server that is left alone, and what comes of it holds for all.',
    'models.probe/kinds': '`models.probe` works for all kinds.',
    'config/key-and-address': 'A stored key is not sent to another address: who changes the address gives the key again.',
  }),
  chosenSection('decisions, "Chat"', {
    'usage/cost':
      'Usage has its cost in USD: what the provider billed, else by the price of its real tokens; what runs here costs nothing.',
    'usage/cache':
      'A prompt that is likely to come again is cached by its provider, four breakpoints at most; what was read and written is told and priced. A program’s own breakpoints and key are kept.',
    'chat/tries':
      'A failed call is tried three times before its first event, with back-off and as long as the provider asks, up to a minute.',
    'chat/calls-and-results':
      'A model is never asked with a call that lacks its result, or the other way, wherever a chat was cut or forked.',
    'chat/steps':
      'A turn ends after `chat.maxSteps` calls of its model: the last one is told so and has to answer, without tools; none stays without its result.',
    'chat/run-limits':
      'A run also has to answer after `chat.maxMinutes`, and when the same calls had the same results three times in a row, alone or in a cycle of up to three steps.',
    'chat/pending-calls':
      'The tools of calls that a model is writing are told while it writes, and it is not silent meanwhile; a try that failed leaves none.',
    'chat/results-as-they-come': 'The result of each tool is told when it is there; what had ended before an abort keeps its result.',
    'chat/unreadable-arguments': 'A call whose arguments are no JSON is told to its model, which may call again; nothing is run.',
    'chat/fallbacks': 'Where a model fails before it has shown anything the next of the chain answers, and message and usage name it.',
  }),
  chosenSection('quality.md, "Reliability"', {
    'providers/anthropic-stream': 'Anthropic’s stream arrives as text, thoughts, tool calls and usage, with pictures and PDFs sent.',
    'providers/google-stream': 'Gemini’s stream arrives as text, thoughts, tool calls and usage, with pictures and PDFs sent.',
    'providers/hostile-anthropic': 'Whatever Anthropic’s server sends ends in one finish or one clear error.',
    'providers/hostile-google': 'Whatever Google’s server sends ends in one finish or one clear error.',
    'providers/wishes':
      'Tool choice, answer format, sampling, stops, seed and effort reach each provider in its own words; what it cannot honour is refused by name.',
    'providers/thinking':
      'Thinking levels reach each provider as its nearest value. What settings ask for and a server refuses is left out, and logged.',
    'providers/breaker':
      'A server that fails several times in a row is left alone for a while, told as 503 with Retry-After; then one request tries it. A caller’s own mistakes never count.',
    'providers/time-outs':
      'How long a model’s server is waited for is set by `gateway.upstream`: until a first byte, a whole answer, and between bytes.',
    'providers/endless': 'Text, thoughts and calls without end are given up, in bounded memory.',
    'providers/tool-calls': 'Calls of one answer have ids of their own, whatever the server sends.',
    'providers/quirks': 'Vendors that speak OpenAI’s format get it as each of them takes it.',
  }),
  chosenSection('quality.md, "Security"', {
    'providers/key-in-stream': 'A key that a server quotes in an error, with a status or within a stream, is told to nobody.',
  }),
];
