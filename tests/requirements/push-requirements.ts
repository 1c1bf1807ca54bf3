import { chosenSection } from './requirement.ts';

/** Push notifications, and approvals on the owner's accounts and devices. */
export const push = [
  chosenSection('decisions, "Web Push"', {
    'push/encrypted': 'Push services get only ciphertext of a padded length (RFC 8188, 8291), signed with the gateway’s key (RFC 8292).',
    'push/size': 'A message has at most 4096 bytes: its text is shortened, never the value of a button.',
    'push/service-faults': 'An ended subscription is removed, a busy service is asked later, and other refusals are told.',
    'push/endpoint': 'Messages go to public https addresses only.',
    'push/approvals':
      'Pending approvals reach the owner’s devices and accounts if the settings say so, and can be allowed once or denied there.',
    'push/bound':
      'A button decides only the approval that was shown, with that content, at the device or account that it was sent to, once.',
    'push/hidden': 'What is not shown whole can be denied, not allowed.',
    'push/people': 'Only people choose devices and targets; on channels, only the owner in a private chat decides.',
    'push/app':
      'The settings turn push notifications on and off; the service worker shows messages and reports the button that is pressed.',
    'push/receipts': 'A notification counts as delivered once the device says that it was shown, and as read once it was opened.',
    'push/route': 'The bridge passes a pressed button to the active host, from the app’s origin only, and limits unknown ones.',
  }),
];
