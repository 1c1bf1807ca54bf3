import { chosenSection } from './requirement.ts';

/** `/v1/responses` and `/v1/embeddings`. */
export const responses = [
  chosenSection('decisions, "HTTP"', {
    'http.responses/whole': '`POST /v1/responses` answers a `response` with its output items, status and usage, from an agent or a model.',
    'http.responses/stream':
      'With `stream: true` it sends every event of the public API in order, numbered from 0, each with its `event:` line, and no `[DONE]`.',
    'http.responses/tools': 'A model’s tool calls go back to the caller, whose outputs go on from there; an agent runs its own.',
    'http.responses/previous':
      '`previous_response_id` goes on from a response that is kept, and from all before it; instructions are not carried on.',
    'http.responses/input':
      'Input is text or items: messages with text, pictures and files, calls and their outputs, which may be pictures and files too, references, thoughts.',
    'http.responses/parameters': 'The parameters of a model reach it.',
    'http.responses/refused': 'What would silently change the meaning is a 400 that names it.',
    'http.responses/ignored': 'Fields, tools and items without effect are named in `x-perch-ignored`, and the request is answered.',
    'http.responses/passed':
      'Verbosity, service tier and hints about the user go to servers of OpenAI’s format; elsewhere, or if they are refused, those that the caller would miss are named.',
    'http.responses/custom-tools':
      'Custom tools and tools of a namespace are offered to the model as functions; its calls come back in the caller’s own form.',
    'http.responses/stored':
      'A response is kept unless `store` is false, can be read and deleted, and is gone after 30 days or behind 1000 newer ones.',
    'http.responses/input-items':
      'What a response was made from is listed in pages, as it was given, with what the responses before it have.',
    'http.responses/background':
      'With `background: true` the response is returned at once and made without the caller, who polls it or reads its events again; if its host has gone, it has failed.',
    'http.responses/cancel':
      'A response in the background can be cancelled, also from another host, and keeps its partial output; another response is a 400, an unknown one a 404.',
    'http.responses/websocket':
      'A WebSocket at `/v1/responses` answers each `response.create` with the events that HTTP streams, one after the other, for agents and models; a disconnect ends the run.',
    'http.responses/websocket-state':
      'With `store: false`, `previous_response_id` continues within its connection; a failed turn drops what it continued, and `generate: false` adds input without asking the model.',
    'http.responses/websocket-bad-input':
      'A message that is not JSON, an unknown event, a bad field or too many waiting requests is an `error` event, and the connection stays open; too large a message closes it.',
    'http.responses/websocket-admission':
      'A WebSocket at `/v1/responses` is admitted as a request to `/v1`, before the upgrade: Host, Origin, credential, the scope `v1` and the number of sockets. It closes when its key is revoked, another host takes over, or after 60 minutes.',
    'http.responses/sealed':
      'Where it is asked for, thoughts have what their provider wants back with its calls; a program that keeps nothing here gives it back with the items.',
    'http.responses/whose': 'A key sees the responses that it made itself; for others they are not there.',
    'http.responses/hosts': 'A response that one host has kept is there at the next, and gone there when it was deleted.',
    'http.responses/ends':
      'A response is completed, incomplete with its reason, or failed; one that fails before the first byte is an HTTP error.',
    'http.responses/refusal':
      'A refusal is a part of its message, with its own events; where a vendor cut the answer off, the response is incomplete.',
    'http.responses/usage': 'Usage of a model is recorded by who called; a caller that hangs up ends the work, and nothing is kept.',
    'http.responses/bad-input': 'No input of any kind is a 500.',
    'http.responses/openai-client': 'The official `openai` package works against `/v1/responses`.',
    'http.embeddings/openai':
      '`POST /v1/embeddings` passes on to servers of the OpenAI format, as floats or base64, and the usage is recorded.',
    'http.embeddings/google': 'Google’s embeddings come in the same format.',
    'http.embeddings/refused': 'Agents and providers without embeddings are a 400.',
  }),
];
