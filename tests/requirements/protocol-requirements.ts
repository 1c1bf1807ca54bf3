import { chosenSection, specifiedSection } from './requirement.ts';

/** Frames, connection, errors, events, limits: what every client of protocol 3 meets first. */
export const protocol = [
  specifiedSection('interface 1, section 5', {
    'connect/first-frame': 'The first request on a connection must be `connect`; anything else is AUTH_REQUIRED, then close 1008.',
    'connect/result': 'Success answers `{protocol, server}`.',
    'connect/bad-token': 'A wrong or missing token is AUTH_REQUIRED, then close 1008.',
  }),
  specifiedSection('interface 1, section 9', {
    'connect/range': 'The result reports the protocol chosen from the client’s range.',
  }),
  specifiedSection('interface 1, sections 2.1 and 4.1', {
    'frames/shape': 'Requests, responses and events have the members of section 2.1; a response carries the id of its request.',
    'health/result': '`health` answers `{status, uptime, connections}`.',
  }),
  specifiedSection('interface 1, section 7', {
    'errors/codes': 'A failure is a response with `ok: false` and `error {code, message}`, its code one of section 7.',
    'errors/unknown-method': 'An unknown method, also `constructor` and `__proto__`, is METHOD_NOT_FOUND.',
    'errors/not-implemented': 'The registered but unimplemented methods answer NOT_IMPLEMENTED.',
    'errors/invalid-params': 'Params of a wrong type, or missing ones, are INVALID_PARAMS.',
  }),
  specifiedSection('interface 1, section 6', {
    'events/chat-kinds':
      'During a generation `chat.delta`, `chat.tool_call`, `chat.tool_result`, `chat.done`, `chat.error` are pushed with the listed payloads.',
  }),
  chosenSection('decisions, "Frames and connection"', {
    'connect/challenge': 'On open the server pushes `connect.challenge {nonce, ts}`, which a client may ignore.',
    'connect/openclaw-params':
      'OpenClaw’s `client`, `role`, `scopes`, `caps` are accepted, and unknown keys are ignored in `connect` alone.',
    'connect/timeout': 'No `connect` within 15 s closes with 1008 and a reason.',
    'connect/no-overlap': 'No overlap of ranges is INVALID_PARAMS with `details.expectedProtocol` 3, then close 1002.',
    'connect/protocol-2': 'At protocol 2 the earlier result shapes of section 4.2 apply.',
    'connect/features': 'The result names methods, events, policy (maxPayload, maxBufferedBytes, tickIntervalMs) and a snapshot.',
    'connect/no-host': 'With no host and none starting the socket closes with 1013 "no gateway" at once.',
    'connect/waits-for-host': 'While a host starts or hands over the socket waits, at most 15 s.',
    'frames/malformed': 'Malformed JSON or a wrong form gets INVALID_PARAMS where an id can be read, else close 1008 with a reason.',
    'frames/binary':
      'JSON in binary frames is read as text and never reaches the hand-over of a host; invalid UTF-8 closes the connection with a reason, and hurts no other.',
    'frames/duplicate-id': 'An id that is still in use is refused with INVALID_PARAMS; the earlier request still gets its answer.',
    'frames/unknown-param': 'An unknown param is INVALID_PARAMS and the message names the key.',
    'frames/fuzz': 'Random frames get the right code; nothing crashes or hangs.',
    'methods/conform':
      'Every method answers in the form of its contract, over a memory link as over a WebSocket through bridge and worker.',
    'methods/fail': 'Each method fails with the codes that its contract has, and with no other of its own.',
    'methods/refuse': 'A wrong type for any param of any method is INVALID_PARAMS and names it.',
    'methods/scopes': 'Every method is refused with AUTH_REQUIRED to those who lack its scope.',
    'events/fields': 'Chat events also carry `runId` and `agentId`.',
    'events/seq': '`seq` counts per connection from 1, on every event, without a gap.',
    'events/scope': 'A connection gets events of the sessions it started runs on, read or previewed; `events: "all"` gets all of them.',
    'events/tick': '`tick {ts}` comes every 15 s.',
    'ids/form': 'Ids of agents, sessions and profiles match `[A-Za-z0-9_-]{1,128}`.',
    'idempotency/replay': 'A repeat with the same idempotencyKey within 5 minutes gets the first answer and does nothing again.',
    'idempotency/everywhere': 'Every method with effects takes an idempotencyKey; for those that only read it is an unknown param.',
    'idempotency/kept': '1,000 answers are kept; nobody gets the answer that another was given.',
    'idempotency/hosts':
      'A repeat that reaches another host, or comes after its first try failed, stores no second message: it gets the first answer, or answers the message anew.',
    'limits/frame-before-connect': 'Over 64 KiB before `connect` closes the connection.',
    'limits/frame': 'A frame over 25 MiB closes the connection with 1009.',
    'limits/structure': 'A frame over 1 MiB with more than 200,000 structural characters is INVALID_PARAMS (413 over HTTP), unparsed.',
    'limits/message': 'A message over 500,000 characters is INVALID_PARAMS.',
    'limits/connections': 'More than 1,000 connections are refused.',
    'limits/silent-sockets':
      'Sockets before `connect` have a budget of their own (256, and 32 of one remote address). The oldest is dropped, so that a newcomer that sends `connect` gets in.',
    'clock/jump': 'A jump of the wall clock changes no limit, time-out, lock-out or tick: they go by a monotonic clock.',
    'limits/rate':
      'A socket’s 600 requests a minute with burst 100, or what is configured; more is RATE_LIMITED with retryAfterMs. MessagePorts are exempt.',
    'limits/control-plane': 'Control-plane writes: 30 a minute per method.',
    'limits/response': 'One response may wait beside the 4 MiB, whatever its size.',
    'limits/steady-reader': 'A client that reads steadily is not slow, however fast its replies come: they slow down to it.',
    'limits/slow-consumer': 'A reader that stalls is closed with 1008 "slow consumer" once 4 MiB wait; the run goes on.',
  }),
  chosenSection('design, "One contract, many readers"', {
    'docs/providers':
      '`docs/providers.md` lists what holds for each kind of provider, as its adapter does with a local server of that kind.',
    'docs/protocol': '`docs/protocol.md` is rendered from the contracts, with an example of each method that the conformance tests run.',
  }),
];
