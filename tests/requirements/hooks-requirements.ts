import { chosenSection } from './requirement.ts';

/** Webhooks: calls from other services, and events for them. */
export const hooks = [
  chosenSection('decisions, "Hooks"', {
    'hooks/signatures':
      'A call is accepted with the signature or secret of its platform only, and the answer does not tell which hooks exist.',
    'hooks/replay': 'A call that is repeated, late or early is handled at most once.',
    'hooks/limits': 'Large, malformed and too many calls are refused with an error.',
    'hooks/actions': 'A call sends a text to an agent or a chat, runs a job or resumes a plan, and is answered before that ends.',
    'hooks/taint': 'What a call contains counts as outside content: tools that make changes ask for approval.',
    'hooks/presets': 'Events of GitHub, GitLab, Stripe and Sentry have readable texts, and templates show values of the body.',
    'hooks/bridge': 'The bridge passes calls to the active host, and answers with 503 and Retry-After if there is none.',
    'hooks/send': 'Events of the gateway are sent to addresses with signatures of Standard Webhooks.',
    'hooks/retry': 'A failed event is sent again with the same ID until the receiver accepts it, for a day; then a person can resend it.',
    'hooks/address': 'Redirects are not followed, and private addresses are requested only if a person has allowed them.',
    'hooks/rotation': 'A secret is shown once, and after a rotation the secret before it stays valid for a day.',
    'cli.hooks/row': '`perch hooks` lists, creates, tests and removes hooks.',
    'hooks/people': 'Only people manage hooks.',
  }),
];
