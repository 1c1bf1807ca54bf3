import { chosen, specified } from './requirement.ts';

export const drivenBrowser = [
  specified('interface 1, section 4.1', {
    'browser/drive': 'Pages are opened, navigated, clicked, filled in, photographed, read and scripted, with the results of section 4.1.',
    'browser/tabs': 'Tabs are listed, focused and closed.',
    'browser/profiles': 'Profiles are listed, created and deleted, each with storage of its own that lasts.',
  }),
  chosen('decisions, "Devices, logs, system, usage, speech"', {
    'browser/by-itself': 'A call that needs a started browser starts it; tabs are called `tab-N`.',
    'browser/time-out': 'Opening a page and navigating time out after 30 s.',
    'browser/default-profile': '`profile` is `default` where it is left out.',
    'browser/preview': '`htmlPreview` has the first 2,000 characters.',
    'browser/errors': 'An element that is not there is NOT_FOUND, a selector that is none INVALID_PARAMS; scripts end in time.',
  }),
  chosen('quality, "Security"', {
    'browser/guard': 'The driven browser reaches no private place that the person has not named, by whatever way a page tries.',
    'browser/hostile-page': 'Whatever a page or its server does, the bridge stays up, and every call ends in time.',
  }),
];
