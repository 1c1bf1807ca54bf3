import type { Material } from './material.ts';

export const TRAVEL: Material = {
  facts: [
    {
      kind: 'one-turn',
      slots: {
        lost: ['my passport', 'both suitcases', 'the left hearing aid', 'my wedding ring'],
        place: ['on the ferry to Crete', 'at the border', 'in a night train', 'in a hostel in Riga'],
      },
      lead: ['Did everything go well on the way?', 'Are all your things back from the trip?'],
      said: [
        'You will laugh: I lost {lost} {place} and only noticed two days later.',
        'Well, {lost} is gone. I must have left it {place}.',
      ],
      asked: [
        'What did {P} lose while travelling?',
        'Where did something of {P} go missing on a journey?',
        'What did {P} lose, and where?',
        'What did {P} leave behind on the trip?',
      ],
      answer: '{lost}|{place}',
    },
    {
      kind: 'one-turn',
      slots: {
        bed: ['a lighthouse', 'a converted grain silo', 'a tree house', 'a monastery with a bell at four'],
        land: ['Portugal', 'Norway', 'Slovenia', 'Scotland'],
      },
      lead: ['Where did you end up sleeping?', 'Was the place you booked any good?'],
      said: [
        '{bed}! In the middle of {land}, no other guest for miles.',
        'I would go back tomorrow. It is {bed}, and {land} does the rest.',
      ],
      asked: [
        'What unusual accommodation did {P} stay in?',
        'Which country did {P} spend the nights in?',
        'Where did {P} sleep in {land}?',
        'Where would {P} go back to sleep tomorrow?',
      ],
      answer: '{bed}|{land}',
    },
    {
      kind: 'one-turn',
      slots: {
        mate: ['my godson', 'my old flatmate Noor', 'nobody at all', 'three strangers from the choir'],
        route: ['the coastal path', 'the Danube by bike', 'the length of Corsica', 'the Bernina pass'],
      },
      lead: ['So you really walked it?', 'How was the big tour?'],
      said: [
        'I did {route} with {mate}, nine days and one pair of trousers.',
        '{route} is behind me, with {mate} for company and blisters for breakfast.',
      ],
      asked: [
        'Who accompanied {P} on the tour?',
        'Which long-distance route did {P} complete?',
        'Who did {route} with {P}?',
        'Which route is behind {P}?',
      ],
      answer: '{mate}|{route}',
      alias: ['the traveller on {route}', 'whoever did {route}'],
    },
    {
      kind: 'one-turn',
      slots: {
        food: ['fermented shark', 'grasshoppers with lime', 'cheese with maggots', 'a soup of nettles'],
        where: ['Iceland', 'Oaxaca', 'Sardinia', 'Transylvania'],
      },
      lead: ['What did they serve you there?', 'Was the food good?'],
      said: [
        'In {where} they put {food} in front of me and everybody watched.',
        'The bravest bite of my life was {food}. {where} is not for the timid.',
      ],
      asked: [
        'What strange food did {P} try abroad?',
        'Where did {P} eat something unusual?',
        'What did they put in front of {P} in {where}?',
        "What was the bravest bite of {P}'s life?",
      ],
      answer: '{food}|{where}',
    },
    {
      kind: 'one-turn',
      slots: {
        why: ['a strike of the pilots', 'fog as thick as wool', 'a swan on the runway', 'a lost stamp'],
        hours: ['seven', 'eleven', 'nineteen'],
      },
      lead: ['Why did you arrive so late?', 'Was the flight on time?'],
      said: [
        'We sat at the airport for {hours} hours because of {why}.',
        '{why}, and that meant {hours} hours on a plastic chair at the gate.',
      ],
      asked: [
        "Why was {P}'s flight delayed?",
        'How long did {P} have to wait at the airport?',
        'Why did {P} sit at the airport?',
        'For how many hours was {P} at the gate?',
      ],
      answer: '{why}|{hours}',
    },
    {
      kind: 'time',
      slots: { land: ['Georgia', 'Morocco', 'the Azores', 'Estonia'] },
      lead: ['Are you back already?', 'How was the holiday?'],
      said: [
        'We landed back from {land} {when} and I still have sand in my shoes.',
        '{when} we came home from {land}, brown as nuts and broke.',
      ],
      asked: [
        'When did {P} return from {land}?',
        'In which month was {P} in {land}?',
        'When did {P} land back from {land}?',
        'When did {P} come home from {land}?',
      ],
    },
    {
      kind: 'time',
      lead: ['So are you really going on the long journey?', 'Have you made up your mind about the trip?'],
      said: ['I booked it {when}, no way back: six weeks with a rucksack.', 'The tickets are paid, since {when} there is no excuse left.'],
      asked: [
        'When did {P} book the big trip?',
        'On what day did {P} buy the tickets?',
        'When did {P} book six weeks with a rucksack?',
        "Since when are {P}'s tickets paid?",
      ],
    },
    {
      kind: 'preferences',
      slots: { seat: ['the window, over the wing', 'the aisle, last row', 'backwards, by the door', 'the upper deck at the front'] },
      lead: ['Where do you want to sit?', 'Shall I reserve seats?'],
      said: ['I always pick {seat}; I have my reasons.', 'For me it has to be {seat}, or I would rather walk.'],
      asked: [
        'Which seat does {P} choose when travelling?',
        'Where does {P} like to sit on a journey?',
        'Which seat does {P} always pick?',
        'Where does {P} have to sit?',
      ],
      answer: '{seat}',
    },
    {
      kind: 'preferences',
      slots: {
        kind: ['small islands out of season', 'cities with trams', 'mountains without cable cars', 'places where nobody speaks English'],
      },
      lead: ['What is your idea of a good holiday?', 'Where would you go if you could choose?'],
      said: ['If I may choose, it is {kind} every time.', 'Nothing beats {kind}, I decided that long ago.'],
      asked: [
        'What sort of destination does {P} like best?',
        'What would be an ideal holiday place for {P}?',
        'What does {P} choose if allowed to, for a holiday?',
        "What does nothing beat in {P}'s view of holidays?",
      ],
      answer: '{kind}',
    },
    {
      kind: 'negation',
      slots: { way: ['cruise ships', 'aeroplanes', 'night buses', 'motorhomes'] },
      lead: ['Shall we all go together next year?', 'Would you come along on any tour?'],
      said: ['I will go anywhere with anybody, only not on {way}.', 'No more {way} for me. Once was enough for two lifetimes.'],
      asked: [
        'How does {P} never want to travel?',
        'Which means of transport does {P} avoid?',
        'What will {P} not go on?',
        'What has {P} had enough of when it comes to travelling?',
      ],
      answer: '{way}',
    },
    {
      kind: 'negation',
      slots: { land: ['Venice', 'Paris', 'Barcelona', 'Dubrovnik'] },
      lead: ['You must have seen all the famous cities?', 'Have you been to all of these?'],
      said: ['Everyone has been to {land} but me. I never made it there.', 'Would you believe I have not once set foot in {land}?'],
      asked: [
        'Which famous city has {P} never seen?',
        'Where has {P} not been yet?',
        'Which place did {P} never make it to?',
        'Where has {P} not once set foot?',
      ],
      answer: '{land}',
    },
    {
      kind: 'open',
      lead: ['How do you prepare for a tour?', 'Have you booked everything?'],
      said: [
        'I had a spreadsheet for the luggage, by weight, with a column for regrets.',
        'I reserve the restaurant before I reserve the flight. Spontaneity is for other people.',
      ],
      asked: [
        'Would {P} enjoy an unplanned road trip?',
        'Does {P} plan journeys in detail?',
        'Does {P} weigh the luggage?',
        'When does {P} reserve the restaurant?',
      ],
    },
    {
      kind: 'open',
      lead: ['Did you go up to the platform?', 'How was the hanging bridge?'],
      said: [
        'One look over the railing of the viewing platform and my knees turned to pudding.',
        'I crossed that hanging bridge on all fours while a school class filmed me.',
      ],
      asked: [
        'Is {P} afraid of heights?',
        'Would {P} like to go paragliding?',
        'How did {P} feel on the viewing platform?',
        'How did {P} cross the hanging bridge?',
      ],
    },
  ],
  collections: [
    {
      asked: [
        'Which countries has {P} been to?',
        'Where has {P} spent holidays?',
        'How many foreign places did {P} see?',
        'What destinations has {P} visited for pleasure?',
      ],
      lead: ['Where have you been on holiday?', 'How was your trip?'],
      items: [
        ['Lisbon and its trams! I have pastry in every pocket.', 'Lisbon'],
        ['We hiked in the Tatras until the hut ran out of soup.', 'Tatras'],
        ['Back from Kyoto with four hundred pictures of moss.', 'Kyoto'],
        ['Ten days of Wales, nine of them sideways rain, and I was happy.', 'Wales'],
        ['The market in Marrakesh took all my cash and my sense of direction.', 'Marrakesh'],
        ['Malta in November is a secret, do not pass it on.', 'Malta'],
        ['We rented a hut on Öland and saw more sheep than people.', 'Öland'],
        ['I have seen the whales off Tadoussac, I may retire now.', 'Tadoussac'],
        ['Sarajevo surprised me: coffee, bullet holes and the kindest people.', 'Sarajevo'],
        ['A week in Tbilisi and I want to learn that alphabet.', 'Tbilisi'],
      ],
    },
    {
      asked: [
        'What souvenirs has {P} brought back?',
        'Which things did {P} buy on journeys?',
        'What did {P} carry home from abroad?',
        'How many souvenirs does {P} have?',
      ],
      lead: ['Did you bring anything home?', 'What is that thing in your luggage?'],
      items: [
        ['The customs man wanted to know why I travel with a copper still.', 'still'],
        ['I bought a carpet. I went for water and I bought a carpet.', 'carpet'],
        ['There is a cuckoo clock in my suitcase and it went off in the bus.', 'cuckoo clock'],
        ['I carried a litre of walnut oil across three borders.', 'walnut oil'],
        ['My one purchase: a wooden mask that frightens the cat.', 'mask'],
        ['A man on the beach sold me a drum and now I must learn it.', 'drum'],
        ['I brought home tiles from a house they tore down, six blue ones.', 'tiles'],
        ['You know that I collect snow globes, well, one from the desert now.', 'snow globe'],
        ['The knitted jumper from the island itches and I adore it.', 'jumper'],
        ['Half of my bag was salt, straight from the pans.', 'salt'],
      ],
    },
  ],
  changes: [
    {
      values: ['Iceland', 'Sicily', 'the Faroe Islands', 'Cornwall', 'Albania', 'Brittany'],
      before: ['The plan for the summer is {old}, three weeks with a tent.', 'For the long holiday we have settled on {old}.'],
      after: [
        'Change of plan, everyone voted and the summer goes to {new}.',
        'We turned it all over last night: it will be {new} after all.',
      ],
      asked: ['Where is {P} going in the summer?', 'What is the current plan for the long holiday of {P}?'],
    },
    {
      values: ['the 4th', 'the 11th', 'the 19th', 'the 23rd', 'the 28th'],
      before: ['My train leaves on {old}, crack of dawn.', 'I am off on {old}, bag is half packed.'],
      after: ['I had to rebook, departure is {new} now.', 'They cancelled my connection, so I set off on {new} instead.'],
      asked: ['On which day does {P} depart?', "What is the date of {P}'s departure after all?"],
    },
  ],
  contradictions: [
    {
      first: ['Camping is not a holiday, it is moving house with insects.', 'I am done with long flights, Europe is big enough for me.'],
      second: [
        'Best week of my life: two poles, one tarp and the stars.',
        'I found a fare to Wellington and pressed the button before I could think.',
      ],
      asked: ['How does {P} feel about tents or far destinations?', 'Did {P} stay true to the words about flying or camping?'],
    },
  ],
  chatter: [
    'I could do with a holiday, any holiday.',
    'Travelling was easier when we were twenty.',
    'Have you ever been up north?',
    'Trains are late everywhere, it is a law of nature.',
    'I look at maps to fall asleep.',
    'My suitcase has lost a wheel again.',
    'One of these days we should go somewhere together.',
    'Airports all smell the same.',
    'The world is large and my budget is not.',
    'Summer is too far away.',
  ],
};
