/* The broadcast of a k-ary tree, written against SimGrid: an independent engine
 * to compare xylem sim with.
 *
 * usage: oracle NODES ARITY FRAMES FRAME_BYTES LATENCY_NS BANDWIDTH
 *
 * Every host has a port with an up and a down link of the bandwidth; a message
 * passes the sender's up and the receiver's down link, half the latency each.
 * Node 0 sends each frame to its children, each node on to its own; a frame has
 * left a node before it sends the next. Prints the time of the last byte, in
 * nanoseconds.
 */
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

namespace
{

enum { POSTED = 2, /* receives */ SENT = 1 /* frames */ };

unsigned nodes, arity, frames;
double frame_bytes;
double last_s = 0;

sg::Mailbox *mailbox(unsigned node)
{
    return sg::Mailbox::by_name(std::to_string(node));
}

void run_node(unsigned node)
{
    std::deque<std::vector<sg::CommPtr>> sent;
    std::deque<sg::CommPtr> coming;
    static int token;
    std::vector<int *> seen(frames);
    unsigned posted = 0;

    for (unsigned f = 0; f < frames; f++) {
        std::vector<sg::CommPtr> comms;

        while (node > 0 && posted < frames && posted < f + POSTED) {
            coming.push_back(mailbox(node)->get_async<int>(&seen[posted]));
            posted++;
        }
        if (node > 0) {
            coming.front()->wait();
            coming.pop_front();
            if (sg::Engine::get_clock() > last_s)
                last_s = sg::Engine::get_clock();
        }
        if (sent.size() == SENT) {
            for (auto &comm : sent.front())
                comm->wait();
            sent.pop_front();
        }
        for (unsigned k = 1; k <= arity; k++) {
            unsigned long child = static_cast<unsigned long>(node) * arity + k;

            if (child < nodes)
                comms.push_back(mailbox(static_cast<unsigned>(child))
                                    ->put_async(&token, static_cast<uint64_t>(
                                                            frame_bytes)));
        }
        sent.push_back(comms);
    }
    for (auto &comms : sent) {
        for (auto &comm : comms)
            comm->wait();
    }
}

} // namespace

int main(int argc, char **argv)
{
    int none = 1;
    char *name[] = {argv[0], nullptr};
    sg::Engine engine(&none, name);

    if (argc != 7)
        return 2;
    nodes = static_cast<unsigned>(std::atoi(argv[1]));
    arity = static_cast<unsigned>(std::atoi(argv[2]));
    frames = static_cast<unsigned>(std::atoi(argv[3]));
    frame_bytes = std::atof(argv[4]);
    double latency_s = std::atof(argv[5]) / 1e9, bandwidth = std::atof(argv[6]);

    /* Plain max-min sharing: no model of TCP. */
    sg::Engine::set_config("network/model:CM02");
    sg::Engine::set_config("network/latency-factor:1");
    sg::Engine::set_config("network/bandwidth-factor:1");
    sg::Engine::set_config("network/weight-S:0");
    sg::Engine::set_config("network/TCP-gamma:0");
    sg::Engine::set_config("network/crosstraffic:0");

    auto *zone = sg::create_full_zone("machine");
    std::vector<sg::Host *> hosts;
    std::vector<sg::Link *> up, down;
    for (unsigned n = 0; n < nodes; n++) {
        std::string id = std::to_string(n);

        hosts.push_back(zone->create_host("h" + id, 1e9)->seal());
        up.push_back(zone->create_link("u" + id, bandwidth)
                         ->set_latency(latency_s / 2)
                         ->seal());
        down.push_back(zone->create_link("d" + id, bandwidth)
                           ->set_latency(latency_s / 2)
                           ->seal());
    }
    for (unsigned n = 1; n < nodes; n++) {
        unsigned parent = (n - 1) / arity;

        zone->add_route(hosts[parent]->get_netpoint(), hosts[n]->get_netpoint(),
                        nullptr, nullptr,
                        {sg::LinkInRoute(up[parent]), sg::LinkInRoute(down[n])},
                        false);
        zone->add_route(hosts[n]->get_netpoint(), hosts[parent]->get_netpoint(),
                        nullptr, nullptr,
                        {sg::LinkInRoute(up[n]), sg::LinkInRoute(down[parent])},
                        false);
    }
    zone->seal();
    for (unsigned n = 0; n < nodes; n++)
        sg::Actor::create("n" + std::to_string(n), hosts[n], run_node, n);
    engine.run();
    std::printf("%.0f\n", last_s * 1e9);
    return 0;
}
