package io.github.shardkeeper.slice;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Application whose handlers are tested alone. */
@SpringBootApplication
class SliceApplication {

}
