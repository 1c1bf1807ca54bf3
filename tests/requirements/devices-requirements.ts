import { chosenSection, specifiedSection } from './requirement.ts';

/** Pairing, device tokens, scopes, revocation. */
export const devices = [
  specifiedSection('interface 1, sections 3 and 4.1', {
    'device.initiate/code': '`device.initiate` gives a code, with which `device.complete` pairs the device once.',
    'device.list/fields': '`device.list` lists paired devices; `device.revoke` removes one.',
  }),
  chosenSection('decisions, "Devices, logs, system, usage, speech"', {
    'device.initiate/alphabet': 'A code is 8 unambiguous characters, in any case, with or without hyphens.',
    'device.complete/keys': 'Ed25519 and P-256 keys as SPKI; a P-256 signature as r and s or as DER.',
    'device.complete/wrong': 'Another form, kind of key or signature is INVALID_PARAMS; a code that is none NOT_FOUND.',
    'device.complete/tries': 'A code has 5 tries in all, also those made at one time, and those with another code.',
    'device.complete/expires': 'A code lives 5 minutes, by the monotonic clock.',
    'device.complete/once': 'A code is good once, also for two who use it at one time.',
    'device.complete/hosts': 'A code is good at whichever host serves the device.',
    'device/pairing-alone': 'A device that shows a pairing code may call `device.complete` and nothing else, and gets no events.',
    'device/guessing': 'Failed codes count: ten a minute, then 5 minutes of lock-out.',
    'device/token': 'A device token lets in over WebSocket and HTTP, with the scopes that it was given and no others.',
    'device/token-kept': 'Tokens are kept as hashes alone; a bridge that was started again lets devices in before a host is attached.',
    'device/mirror': 'The bridge hears of every change of the devices, from the host that serves alone.',
    'device/page':
      'The page Devices shows a code for a new device, as text and, where others reach the gateway, as a QR code with the address; how long it is good, that it was used or has expired; else how to be reached.',
    'device.list/seen': '`device.list` says who is connected and when each was last seen.',
  }),
  chosenSection('design.md, "Two origins would be two databases"', {
    'device.revoke/closes': 'Revoking closes the device’s sockets and streams within the call, and its token is void.',
    'device.revoke/runs': 'What a revoked device, or a program with a revoked key, had asked for ends with what had come.',
    'device.browsers/list':
      '`device.browsers` lists the browsers that the bridge has linked, and which of them are connected; none without a bridge.',
    'device.unlink/closes': '`device.unlink` takes a linked browser’s credentials back for good, and cuts off its pages and its worker.',
    'device.unlink/page': 'The page Devices lists the linked browsers, says which one it is, and takes a link back; who lost it says so.',
    'device.unlink/none': 'A browser that is not linked is NOT_FOUND; one that cannot be taken out of the file stays linked.',
    'device.revoke/stays': 'A revoked device stays out, whatever other hosts wrote apart from that.',
  }),
];
